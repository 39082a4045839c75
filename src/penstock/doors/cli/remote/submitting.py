"""`penstock ingest submit` by a server: files are sent, and followed by the server's events."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import click

from penstock.client import Penstock, PenstockError, Sendable, Wishes
from penstock.client.files import Progress
from penstock.client.values import Accepted, Document
from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.ingest import paths
from penstock.doors.cli.ingest.following import Outlook
from penstock.doors.cli.ingest.oversights import Oversights
from penstock.doors.cli.ingest.shapes import FailedFacts, ItemFacts, Refusals, RefusedFacts, WaitFacts
from penstock.doors.cli.ingest.submitting import (
    STDIN,
    Call,
    Submission,
    call_of,
    folder_of,
    metadata_of,
    print_ids,
    text_of_stdin,
)
from penstock.doors.cli.ingest.waiting import Wording, showing, tell_failure
from penstock.doors.cli.remote import unable
from penstock.doors.cli.remote.facts import error_facts
from penstock.doors.cli.remote.session import with_server
from penstock.doors.cli.shapes import ErrorFacts
from penstock.doors.cli.words import plural, size
from penstock.model.errors import Refused
from penstock.model.jobs import PRIORITY_NAMES, priority_of
from penstock.model.payloads import Folder, Project

FILES_MAX = 100_000
STDIN_BYTES_MAX = 64 * 1024 * 1024
TEXT_BYTES_MAX = 1024 * 1024
"""A longer text is sent as a file."""
AT_ONCE = 4
"""Requests on their way at a time."""
BUNDLE_FILES = 20
BUNDLE_BYTES = 8 * 1024 * 1024
"""Files of one request; many small ones cost as little of a rate limit as one."""
OF_THE_FILE = frozenset({400, 409, 413, 415, 422})
"""Statuses that say something about the file that was sent, not about us or the server."""
GONE = ErrorFacts(code="ERR_SUPERSEDED", message="it was deleted meanwhile", suggestions=[])
SENDS = Wording(
    line=lambda seen: f"{size(seen.done)} of {size(seen.total)} sent",
    beside=lambda seen: f"{size(seen.done)} of {size(seen.total)} sent",
    rate=lambda rate: f"{size(int(rate))}/s",
)


@click.pass_obj
def submit(given: Given, /, more: Sequence[str], **words: Any) -> int:
    """Send documents to the server and print the ids of their jobs."""
    call = call_of(more, words)
    _check(call)
    work = _Sending(given, call)
    try:
        return with_server(given, work.run)
    except KeyboardInterrupt:
        return work.interrupted()


def _check(call: Call) -> None:
    """Refuse what a server takes from nobody but its own machine."""
    if call.urls:
        raise unable(
            "--url is fetched on the server's own machine: store it as a file here, and hand that in"
        )
    if call.version:
        raise unable("--version belongs to what --url names: say it as --meta version=VERSION; it works here")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parcel:
    """One thing to be sent: a file, or a text itself."""

    item: ItemFacts
    file: Sendable | None = None
    text: str = ""

    @property
    def size(self) -> int:
        """Bytes."""
        return self.item["size"] or 0


class _Sending(Submission):
    """One call whose files go to a server."""

    def __init__(self, given: Given, call: Call) -> None:
        super().__init__(given, call)
        self._refused: list[RefusedFacts] = []
        self._priority = None if call.priority is None else priority_of(call.priority)

    async def run(self, server: Penstock) -> int:
        """Look, send, and wait if asked to."""
        call = self._call
        parcels = await self._packed()
        await server.collection(call.collection)
        if call.dry_run:
            self._items = [each.item for each in parcels]
            self.show(None)
            return Exit.OK
        try:
            await self._send(server, parcels)
        except PenstockError:
            self._tell_taken()
            raise
        if not self._given.as_json:
            print_ids(self._items)
        found = await self._followed(server) if call.wait and self._items else None
        if self._items or self._given.as_json:
            self.show(found)
        for each in self._refused:
            tell_failure(FailedFacts(job_id="", **each), "refused")
        if self._refused:
            return Exit.VALIDATION
        if found is None:
            return Exit.OK
        if found["end"] == "timeout":
            return Exit.TIMEOUT
        return Exit.EXECUTION if found["failed"] else Exit.OK

    def _tell_taken(self) -> None:
        """Before the rest is given up: what the server has will be ingested."""
        if self._given.as_json:
            self.show(None)
        elif self._items:
            print_ids(self._items)
            output.talk(f"{plural(len(self._items), 'job')} submitted before; saying it again doubles none")

    async def _followed(self, server: Penstock) -> WaitFacts:
        """What became of it; a server that is lost meanwhile goes on with it all the same."""
        try:
            return await self._wait(server)
        except PenstockError:
            if self._given.as_json:
                self.show(None)
            else:
                output.talk(
                    f"{plural(len(self._items), 'job')} submitted; the server ingests them all the same"
                )
            raise

    def _more(self) -> Refusals:
        return {"refused": self._refused}

    async def _packed(self) -> list[_Parcel]:
        """Everything that was named, looked at on this machine."""
        call = self._call
        typed = [path for path in call.paths if path != STDIN]
        seen = await asyncio.to_thread(paths.look, typed, file_bytes_max=sys.maxsize, files_max=FILES_MAX)
        files = dict(seen.files)
        for path in seen.folders:
            files |= await _files_below(folder_of(call, path), self._overlooked)
        for root in call.projects:
            files |= await _files_below(Project(project_root=paths.folder(root)), self._overlooked)
        self._overlooked.tell()
        parcels = [_Parcel(item=_item("file", path, count), file=path) for path, count in files.items()]
        texts = list(call.texts)
        if STDIN in call.paths:
            texts.append(text_of_stdin(STDIN_BYTES_MAX, "as much as is read"))
        parcels += [_text(call.name or "text", text) for text in texts]
        for each in parcels:
            each.item["priority"] = PRIORITY_NAMES["normal"] if self._priority is None else self._priority
        return parcels

    def _wishes(self) -> Wishes:
        call = self._call
        return Wishes(
            priority=self._priority,
            skip_validation=call.skip_validation,
            preserve_metadata=not call.no_preserve_metadata,
            reindex=call.reindex and not self._items,
        )

    async def _send(self, server: Penstock, parcels: Sequence[_Parcel]) -> None:
        """Send some at a time; what was accepted is known also where the rest cannot be sent."""
        waiting = iter(_bundles(parcels))
        sent, total = 0, sum(each.size for each in parcels)

        with showing(quiet=self._call.quiet, wording=SENDS) as show:

            def progress(more: int) -> None:
                nonlocal sent
                sent += more
                show(Outlook(total=max(total, sent), done=sent, failed=0, is_over=sent >= total))

            async def carry() -> None:
                for bundle in waiting:
                    await self._deliver(server, bundle, progress)

            if self._call.reindex:  # the first that is taken in asks for it, once
                for bundle in waiting:
                    await self._deliver(server, bundle, progress)
                    if self._items:
                        break
            carriers = [asyncio.create_task(carry()) for _ in range(AT_ONCE)]
            try:
                await asyncio.gather(*carriers)
            finally:
                for carrier in carriers:
                    carrier.cancel()
                await asyncio.gather(*carriers, return_exceptions=True)
        order = {each.item["name"]: number for number, each in enumerate(parcels)}
        self._items.sort(key=lambda item: order[item["name"]])

    async def _deliver(self, server: Penstock, bundle: Sequence[_Parcel], progress: Progress) -> None:
        """Send a bundle; one that is refused is sent again one by one, to find which of it is."""
        sent = 0

        def count(more: int) -> None:
            nonlocal sent
            sent += more
            progress(more)

        try:
            accepted = await self._posted(server, bundle, count)
        except (PenstockError, OSError) as error:
            if isinstance(error, PenstockError) and not _is_of_the_file(error):
                raise
            if len(bundle) == 1:
                self._refused.append(_refused(bundle[0].item, error))
                return
            progress(-sent)
            for each in bundle:
                await self._deliver(server, [each], progress)
        else:
            self._items += [_with(each.item, one) for each, one in zip(bundle, accepted, strict=True)]

    async def _posted(
        self, server: Penstock, bundle: Sequence[_Parcel], progress: Progress
    ) -> Sequence[Accepted]:
        collection, metadata = self._call.collection, metadata_of(self._call.meta)
        wishes = self._wishes()
        files = [each.file for each in bundle if each.file is not None]
        if files:
            return await server.upload(
                *files, collection=collection, metadata=metadata, wishes=wishes, progress=progress
            )
        (parcel,) = bundle
        name = parcel.item["name"]
        accepted = await server.submit_text(
            parcel.text, collection=collection, name=name, metadata=metadata, wishes=wishes
        )
        progress(parcel.size)
        return [accepted]

    async def _wait(self, server: Penstock) -> WaitFacts:
        """Follow to the end, or until the time is over; files of equal bytes are one document."""
        waiting: dict[str, list[ItemFacts]] = {}
        for item in self._items:
            waiting.setdefault(str(item["document_id"]), []).append(item)
        done, failures, end = 0, list[FailedFacts](), "ended"
        with showing(quiet=self._call.quiet) as show:
            try:
                async with (
                    asyncio.timeout(self._call.timeout),
                    aclosing(server.follow(*waiting)) as documents,
                ):
                    async for document in documents:
                        ended = waiting.pop(document.id, []) if document.has_ended else []
                        if document.status == "ingested":
                            done += len(ended)
                        else:
                            failures += [_failed(item, document) for item in ended]
                        seen = _outlook(len(self._items), done, len(failures))
                        self._note(seen)
                        show(seen)
            except TimeoutError:
                end = "timeout"
        return WaitFacts(end=end, total=len(self._items), done=done, failed=len(failures), failures=failures)


def _outlook(total: int, done: int, failed: int) -> Outlook:
    return Outlook(total=total, done=done, failed=failed, is_over=done + failed == total)


def _is_of_the_file(error: PenstockError) -> bool:
    """Whether another file may be taken where this one is not: a wish that is refused is for all of them."""
    return error.status in OF_THE_FILE and error.code != "ERR_PRIORITY_INVALID"


def _failed(item: ItemFacts, document: Document) -> FailedFacts:
    told = GONE if document.status == "deleted" else error_facts(document.error)
    return FailedFacts(job_id=item["job_id"] or "", name=item["name"], error=told)


def _refused(item: ItemFacts, error: PenstockError | OSError) -> RefusedFacts:
    if isinstance(error, OSError):
        told = _facts(Refused(f"it cannot be read: {error.strerror or error}", code="ERR_FILE_UNREADABLE"))
    else:
        told = _facts(error)
    return RefusedFacts(name=item["name"], error=told)


def _facts(error: PenstockError | Refused) -> ErrorFacts:
    return ErrorFacts(code=error.code, message=error.message, suggestions=list(error.suggestions))


def _text(name: str, text: str) -> _Parcel:
    data = text.encode()
    item = _item("content", name, len(data))
    return _Parcel(item=item, text=text, file=(f"{name}.txt", data) if len(data) > TEXT_BYTES_MAX else None)


def _bundles(parcels: Sequence[_Parcel]) -> Iterator[list[_Parcel]]:
    """Small files together, as many as go in a request; a text by itself."""
    bundle: list[_Parcel] = []
    for each in parcels:
        full = len(bundle) >= BUNDLE_FILES or sum(one.size for one in bundle) + each.size > BUNDLE_BYTES
        if bundle and (full or each.file is None):
            yield bundle
            bundle = []
        bundle.append(each)
        if each.file is None:
            yield bundle
            bundle = []
    if bundle:
        yield bundle


async def _files_below(below: Folder | Project, overlooked: Oversights) -> dict[str, int]:
    """The files an ingest on this machine would find there, with their sizes; what is empty is left out."""
    from penstock.wiring.intake import portions_of

    found: dict[str, int] = {}
    async with aclosing(portions_of(below, FILES_MAX)) as portions:
        async for portion in portions:
            found |= {each.path: each.size for each in portion.files if each.size}
            overlooked.add(
                len(portion.overlooked), [f"{each.path} ({each.why})" for each in portion.overlooked]
            )
    return found


def _item(kind: str, name: str, size: int) -> ItemFacts:
    return ItemFacts(
        kind=kind,
        name=name,
        size=size,
        files=None,
        priority=PRIORITY_NAMES["normal"],
        job_id=None,
        how=None,
        document_id=None,
    )


def _with(item: ItemFacts, accepted: Accepted) -> ItemFacts:
    return {**item, "job_id": accepted.job_id, "how": accepted.how, "document_id": accepted.document_id}
