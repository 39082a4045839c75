"""`penstock ingest submit` by a server: files are sent, and followed by the server's events."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any

import click

from penstock.client import Penstock
from penstock.client.values import Accepted, Document
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.ingest import paths
from penstock.doors.cli.ingest.following import Outlook
from penstock.doors.cli.ingest.shapes import FailedFacts, ItemFacts, WaitFacts
from penstock.doors.cli.ingest.submitting import (
    STDIN,
    Call,
    Submission,
    call_of,
    metadata_of,
    print_ids,
    text_of_stdin,
)
from penstock.doors.cli.ingest.waiting import showing
from penstock.doors.cli.remote import unable
from penstock.doors.cli.remote.session import with_server
from penstock.doors.cli.shapes import ErrorFacts
from penstock.model.jobs import PRIORITY_NAMES

FILES_MAX = 10_000
TEXT_BYTES_MAX = 1024 * 1024
"""A longer text is sent as a file."""


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
    given = {
        "--url": call.urls,
        "--project": call.projects,
        "--version": call.version,
        "--pattern": call.patterns,
        "--ignore": call.ignore,
        "--depth": call.depth is not None,
        "--priority": call.priority,
        "--reindex": call.reindex,
        "--skip-validation": call.skip_validation,
        "--no-preserve-metadata": call.no_preserve_metadata,
    }
    for option, value in given.items():
        if value:
            raise unable(f"{option} works on the server's own machine")


class _Sending(Submission):
    """One call whose files go to a server."""

    async def run(self, server: Penstock) -> int:
        """Look, send, and wait if asked to."""
        call = self._call
        typed = [path for path in call.paths if path != STDIN]
        seen = await asyncio.to_thread(paths.look, typed, file_bytes_max=sys.maxsize, files_max=FILES_MAX)
        if seen.folders:
            raise unable(f"{seen.folders[0]} is a folder, and folders are read on the server's own machine")
        texts = [*call.texts, *([text_of_stdin(TEXT_BYTES_MAX)] if STDIN in call.paths else [])]
        name = call.name or "text"
        await server.collection(call.collection)
        self._items = [_item("file", path, size) for path, size in seen.files.items()]
        self._items += [_item("content", name, len(text.encode())) for text in texts]
        if call.dry_run:
            self.show(None)
            return Exit.OK
        planned, self._items = self._items, []
        accepted = await self._send(server, list(seen.files), texts, name)
        self._items = [_with(item, each) for item, each in zip(planned, accepted, strict=True)]
        if not self._given.as_json:
            print_ids(self._items)
        if not call.wait:
            self.show(None)
            return Exit.OK
        found = await self._wait(server)
        self.show(found)
        if found["end"] == "timeout":
            return Exit.TIMEOUT
        return Exit.EXECUTION if found["failed"] else Exit.OK

    async def _send(
        self, server: Penstock, files: Sequence[str], texts: Sequence[str], name: str
    ) -> list[Accepted]:
        call, metadata = self._call, metadata_of(self._call.meta)
        done = await server.upload(*files, collection=call.collection, metadata=metadata)
        for content in texts:
            done.append(
                await server.submit_text(content, collection=call.collection, name=name, metadata=metadata)
            )
        return done

    async def _wait(self, server: Penstock) -> WaitFacts:
        """Follow to the end, or until the time is over."""
        jobs = {str(item["document_id"]): item for item in self._items}
        ended: dict[str, Document] = {}
        end = "ended"
        with showing(quiet=self._call.quiet) as show:
            try:
                async with asyncio.timeout(self._call.timeout), aclosing(server.follow(*jobs)) as documents:
                    async for document in documents:
                        if document.has_ended:
                            ended[document.id] = document
                        show(_outlook(len(jobs), ended))
            except TimeoutError:
                end = "timeout"
        failed = [each for each in ended.values() if each.status == "error"]
        return WaitFacts(
            end=end,
            total=len(jobs),
            done=len(ended) - len(failed),
            failed=len(failed),
            failures=[_failed(jobs[each.id], each) for each in failed],
        )


def _outlook(total: int, ended: dict[str, Document]) -> Outlook:
    failed = sum(each.status == "error" for each in ended.values())
    return Outlook(total=total, done=len(ended) - failed, failed=failed, is_over=len(ended) == total)


def _failed(item: ItemFacts, document: Document) -> FailedFacts:
    error = document.error
    told = (
        ErrorFacts(code="ERR_UNEXPECTED", message="it failed without a recorded reason", suggestions=[])
        if error is None
        else ErrorFacts(code=error.code, message=error.message, suggestions=list(error.suggestions))
    )
    return FailedFacts(job_id=item["job_id"] or "", name=item["name"], error=told)


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
