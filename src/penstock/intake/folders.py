"""Folders and projects: one job that looks, and a child for every file that is new, changed or gone.

Looking is cheap: a file whose size, time and inode are those of its last capture is not touched. The children
are a batch under the parent's id and carry ids made from it, so a look that is cut short and repeated makes
each child once. A file counts as gone only if it is not on the disk; one the patterns merely leave out stays,
and so do all where nothing is found: that is more often a disk that is missing than a wish. So does one that
was dropped into a folder of ours below the root: we moved it away ourselves. A file that looks as it did is
taken again where it is now of another branch or library: nothing is embedded.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from penstock.intake.admission import Admission, Order
from penstock.intake.incoming import SourceFolders
from penstock.model.catalogue import Collection, Document, Source
from penstock.model.errors import Refused
from penstock.model.files import FoundFile, Portion, Selection, mark_of
from penstock.model.jobs import BatchId, Lease, Operation
from penstock.model.options import Options, Origin, options_of
from penstock.model.payloads import Folder, Library, Project, Rename
from penstock.model.stored_json import stored_object
from penstock.model.surveys import Survey
from penstock.ports.attempt import Attempt
from penstock.ports.batches import Batches
from penstock.ports.catalogue import Catalogue
from penstock.ports.database import Database
from penstock.ports.files import Finder, Projects
from penstock.ports.lookup import collection_of

SCAN_PRIORITY = 3
"""Background folder scans, by the guideline; a parent someone waits for hands its own priority down."""
PAGE = 500

Missing = Callable[[Sequence[str]], Awaitable[list[str]]]
"""Which of these paths are not on the disk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounds:
    """What looking needs."""

    database: Database
    catalogue: Catalogue
    batches: Batches
    admission: Admission
    finder: Finder
    projects: Projects
    missing: Missing
    ours: SourceFolders
    files_max: int


class Folders:
    """The jobs that make children."""

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds

    async def ingest(self, attempt: Attempt) -> None:
        """Submit what is new or changed, and delete what is gone."""
        lease, look = attempt.lease, self._look(attempt.lease)
        collection = await self._collection(lease)
        batch = await self._batch(lease)
        if batch is None:
            return
        order = await self._order(lease)

        async def submit(files: Sequence[FoundFile]) -> None:
            marks = {file.path: _mark(file, lease, order.branch) for file in files}
            await self._grounds.admission.files(
                order, list(marks), marks=marks, batch=batch, parent=lease.job_id
            )

        async def remove(paths: Sequence[str]) -> None:
            await self._grounds.admission.removals(order, paths, batch=batch, parent=lease.job_id)

        await self._survey(attempt, look, collection, order.branch, submit, remove)
        await self._grounds.batches.seal_batch(batch)

    async def scan(self, attempt: Attempt) -> None:
        """Say what an ingest would do, and do nothing."""

        async def nothing(_: Sequence[object]) -> None:
            return None

        collection, branch = await self._collection(attempt.lease), await self._branch(attempt.lease)
        await self._survey(attempt, self._look(attempt.lease), collection, branch, nothing, nothing)

    async def delete(self, attempt: Attempt) -> None:
        """Delete every document found under the root, or of the library, one child each."""
        lease = attempt.lease
        collection = await self._collection(lease)
        batch = await self._batch(lease)
        if batch is None:
            return
        order = await self._order(lease)
        library = lease.payload if isinstance(lease.payload, Library) else None
        # A library's documents are known by what is said of them, wherever they lie.
        async for documents in self._known(lease, collection, None if library is None else "/"):
            doomed = [d.identity for d in documents if library is None or _is_of(library, d)]
            await self._grounds.admission.removals(order, doomed, batch=batch, parent=lease.job_id)
        await self._grounds.batches.seal_batch(batch)

    async def rename(self, attempt: Attempt) -> None:
        """Rename every document under the old path, one child each; bytes and vectors stay."""
        lease, payload = attempt.lease, _payload(attempt.lease, Rename)
        collection = await self._collection(lease)
        batch = await self._batch(lease)
        if batch is None:
            return
        order = replace(await self._order(lease), options=Options())
        old = PurePosixPath(payload.old_path)
        async for documents in self._known(lease, collection, payload.old_path):
            for document in documents:
                new = PurePosixPath(payload.new_path) / PurePosixPath(document.identity).relative_to(old)
                await self._grounds.admission.job(
                    order,
                    Rename(old_path=document.identity, new_path=str(new)),
                    Operation.UPDATE,
                    parent=lease.job_id,
                    batch=batch,
                )
        await self._grounds.batches.seal_batch(batch)

    async def _survey(
        self,
        attempt: Attempt,
        look: AsyncIterator[Portion],
        collection: Collection,
        branch: str,
        submit: Callable[[Sequence[FoundFile]], Awaitable[None]],
        remove: Callable[[Sequence[str]], Awaitable[None]],
    ) -> None:
        lease, seen = attempt.lease, set[str]()
        survey = Survey(root=root_of(lease))
        async for portion in look:
            paths = [file.path for file in portion.files]
            seen.update(paths)
            marks = await self._grounds.catalogue.marks(lease.tenant, collection.id, paths)
            wanted = [file for file in portion.files if marks.get(file.path) != _mark(file, lease, branch)]
            survey.add("new", [file.path for file in wanted if file.path not in marks])
            survey.add("changed", [file.path for file in wanted if file.path in marks])
            survey.add("unchanged", paths[: len(paths) - len(wanted)])
            survey.add("overlooked", [f"{left.path} ({left.why})" for left in portion.overlooked])
            await submit(wanted)
            await attempt.progress(survey.found)
        is_there = bool(seen)
        async for documents in self._known(lease, collection):
            unseen = [
                document.identity
                for document in documents
                if document.identity not in seen
                and document.source is Source.FILE
                and not self._grounds.ours.took(document)
            ]
            gone = await self._grounds.missing(unseen)
            # A file the patterns merely leave out shows as well that the disk is there.
            is_there = is_there or len(gone) < len(unseen)
            if gone and not is_there:
                raise _is_empty(survey.root)
            survey.add("gone", gone)
            await remove(gone)
        report = json.dumps(survey.as_report(), ensure_ascii=False)
        await self._grounds.database.write(lambda tx: tx.kept.keep_report(lease.job_id, report))
        await attempt.progress(survey.found, survey.found)

    def _look(self, lease: Lease) -> AsyncIterator[Portion]:
        match lease.payload:
            case Folder() as folder:
                selection = Selection(
                    patterns=folder.patterns,
                    ignore_patterns=folder.ignore_patterns,
                    recursive=folder.recursive,
                    recursive_depth=folder.recursive_depth,
                    files_max=self._grounds.files_max,
                )
                return self._grounds.finder.walk(Path(folder.folder_path), selection)
            case Project() as project:
                return self._grounds.projects.walk(
                    Path(project.project_root), Selection(files_max=self._grounds.files_max)
                )
            case Library(source_path=str() as path):
                return self._grounds.finder.walk(Path(path), Selection(files_max=self._grounds.files_max))
            case other:
                raise Refused(f"{type(other).__name__} names no folder", code="ERR_PAYLOAD_INVALID")

    async def _known(
        self, lease: Lease, collection: Collection, under: str | None = None
    ) -> AsyncIterator[list[Document]]:
        """The tenant's documents under the root, page by page."""
        root, after = under or root_of(lease), None
        while True:
            page = await self._grounds.catalogue.documents(
                collection.workspace, collection=collection.id, under=root, after=after, limit=PAGE
            )
            if not page:
                return
            after = page[-1].identity
            yield [document for document in page if document.tenant == lease.tenant]

    async def _batch(self, lease: Lease) -> BatchId | None:
        """The batch of this job's children; None if an earlier attempt made and sealed it."""
        batch = await self._grounds.batches.open_batch(lease.job_id)
        known = await self._grounds.batches.batch(batch)
        return None if known is not None and known.sealed else batch

    async def _collection(self, lease: Lease) -> Collection:
        return await self._grounds.database.write(
            lambda tx: collection_of(tx, lease.tenant, lease.collection)
        )

    async def _branch(self, lease: Lease) -> str:
        """The branch a project is on now; of all else what the job says."""
        if not isinstance(lease.payload, Project):
            return lease.branch
        root, remote = Path(lease.payload.project_root), lease.payload.git_remote
        return (await self._grounds.projects.facts(root, remote=remote)).branch

    async def _order(self, lease: Lease) -> Order:
        options = options_of(lease.metadata_json)
        document = dict(options.document)
        if isinstance(lease.payload, Library):
            document |= {
                "library": lease.payload.library_name,
                "library_version": lease.payload.library_version,
            }
        return Order(
            tenant=lease.tenant,
            collection=lease.collection,
            priority=min(lease.priority, SCAN_PRIORITY) if lease.priority < 9 else lease.priority,
            branch=await self._branch(lease),
            lease=lease,
            options=replace(options, origin=Origin.SCANNED, root=_root(lease), document=document, mark=None),
        )


def _mark(file: FoundFile, lease: Lease, branch: str) -> str:
    """How a file looks, and as part of what."""
    match lease.payload:
        case Project():
            return f"{mark_of(file)}:{branch}"
        case Library(library_name=name, library_version=version):
            return f"{mark_of(file)}:{name}:{version}"
        case _:
            return mark_of(file)


def _is_of(library: Library, document: Document) -> bool:
    """Whether a file was taken in with a library: it says so, or lies in its folder and says nothing."""
    if document.source is not Source.FILE:
        return False
    told = stored_object(document.metadata_json)
    if "library" in told:
        wanted = (library.library_name, library.library_version)
        return (told["library"], told.get("library_version", "")) == wanted
    source = library.source_path
    return source is not None and PurePosixPath(document.identity).is_relative_to(source)


def root_of(lease: Lease) -> str:
    """The folder a job is about."""
    if (root := _root(lease)) is None:
        raise Refused(f"{type(lease.payload).__name__} names no folder", code="ERR_PAYLOAD_INVALID")
    return root


def _root(lease: Lease) -> str | None:
    match lease.payload:
        case Folder() as folder:
            return folder.folder_path
        case Project() as project:
            return project.project_root
        case Library() as library:
            return library.source_path
        case Rename() as rename:
            return rename.old_path
        case _:
            return None


def _is_empty(root: str) -> Refused:
    """Why nothing is deleted: most often the disk that belongs there is not."""
    return Refused(f"{root} is empty, but documents were taken from it", code="ERR_FOLDER_EMPTY")


def _payload(lease: Lease, kind: type[Rename]) -> Rename:
    if not isinstance(lease.payload, kind):
        raise TypeError(f"{kind.__name__} was expected, not {type(lease.payload).__name__}")
    return lease.payload
