"""Moves: a file of an incoming folder goes to processed or failed once its job has ended.

The debt was written in the transaction that ended the job, so a crash between the two loses neither; a move
that happened already is a success. A file that is no longer the one the job took, or could not take, is a new
arrival with a job of its own, and stays.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

from penstock.intake.incoming import SourceFolders
from penstock.intake.yields import Yields
from penstock.model.catalogue import Debt
from penstock.model.errors import Refused
from penstock.model.files import blob_hash
from penstock.model.jobs import Job, JobId
from penstock.model.options import options_of
from penstock.model.provenance import provenance_of
from penstock.model.records import error_record, stamp, status_record
from penstock.model.states import State
from penstock.model.stored_json import stored_object
from penstock.ports.catalogue import Catalogue
from penstock.ports.database import Database
from penstock.ports.desk import Desk
from penstock.ports.files import Moved, Mover

META, ERROR = ".meta.json", ".error.json"


class Moves:
    """Pays the debt of a move."""

    def __init__(
        self, database: Database, desk: Desk, catalogue: Catalogue, mover: Mover, folders: SourceFolders
    ) -> None:
        self._database = database
        self._yields = Yields(database, catalogue)
        self._desk = desk
        self._catalogue = catalogue
        self._mover = mover
        self._folders = folders

    async def pay(self, debt: Debt) -> bool:
        """Move the file and write its record beside it."""
        job = await self._desk.find(JobId(debt.about))
        if job is not None:
            await self._move(job)
        await self._database.write(lambda tx: tx.debts.paid(debt))
        return True

    async def _move(self, job: Job) -> None:
        path = Path(str(stored_object(job.payload_json).get("file_path", "")))
        if not self._folders.holds(job.collection, path):
            return
        document = await self._yields.document(job.id)
        taken = None if document is None else await self._catalogue.last_bytes(document.id)
        done = job.state is State.DONE
        name = _name_of(provenance_of(job.metadata_json).filename or path.name, path)
        folder = self._folders.outcome(job.collection, done=done)
        digest = None if taken is None else blob_hash(taken)
        options = options_of(job.metadata_json)
        demanded = options.demanded
        move = partial(
            self._mover.move,
            path,
            folder,
            digest=digest,
            # What failed may never have been captured; the document's last bytes are an earlier file's then.
            mark=None if done else options.mark,
            until=job.started_at or job.finished_at,
        )
        moved = await self._moved(move, name, path.name)
        if moved is not None and demanded and moved.earlier and moved.path.name == path.name != name:
            # It was found before its message came; the message's name counts.
            earlier, moved = moved.path, await self._mover.move(moved.path, folder, name, digest=digest)
            await self._mover.drop_beside(earlier, META if done else ERROR)
        if moved is None:
            # Someone took it away, or put something else in its place; or it never was there.
            if job.error is not None and job.error.code == "ERR_FILE_NOT_FOUND":
                await self._mover.write_beside(folder / name, ERROR, error_record(job, filename=name))
            return
        if done:
            made = await self._yields.of_document(document)
            stages = await self._catalogue.stages_of_job(job.id)
            record, suffix = status_record(job, filename=name, made=made, stages=stages), META
        else:
            record, suffix = error_record(job, filename=name), ERROR
        # Whoever watches the folder may have found the file a message is about: the message's record counts.
        # Both may be moved at once, by two processes, so whoever comes second must still find the other's.
        if demanded:
            await self._mover.write_beside(moved.path, suffix, record)
        else:
            since = stamp(job.created_at)
            await self._mover.write_beside(moved.path, suffix, record, keep=moved.earlier, since=since)

    async def _moved(self, move: Callable[..., Awaitable[Moved]], *names: str) -> Moved | None:
        """Where it is now: under the name its message gave it, or where another job had moved it before."""
        for called in dict.fromkeys(names):
            try:
                return await move(called)
            except Refused as refused:
                if refused.code == "ERR_FILE_CHANGING":
                    return None
                if refused.code != "ERR_FILE_NOT_FOUND":
                    raise
        return None


def _name_of(told: str, path: Path) -> str:
    """What its message called it, if a file can be called so."""
    return told if Path(told).name == told else path.name
