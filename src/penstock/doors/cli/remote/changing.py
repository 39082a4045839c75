"""`penstock ingest retry` and `delete` by a server."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing

import click

from penstock.client import Penstock
from penstock.client.values import Document
from penstock.doors.cli.codes import refuse_unknown
from penstock.doors.cli.given import Given
from penstock.doors.cli.ingest import deleting, retrying
from penstock.doors.cli.ingest.shapes import AgainFacts, RemovalFacts, RemovedDocuments, RetriedDocuments
from penstock.doors.cli.remote import unable
from penstock.doors.cli.remote.session import with_server
from penstock.model.errors import Refused

AT_ONCE = 1_000
"""Documents a server changes in one request."""


@click.pass_obj
def retry(given: Given, failed: bool, name: str | None, code: str | None, dry_run: bool) -> None:
    """Have the server try documents in error again."""
    retrying.check(failed=failed)

    async def work(server: Penstock) -> RetriedDocuments:
        found: list[Document] = []
        async with aclosing(server.documents(collection=name, status="error", sort="name")) as documents:
            async for each in documents:
                if each.error is not None and retrying.is_chosen(each.error.code, code):
                    found.append(each)
        if not found:
            refuse_unknown(code)
        done = RetriedDocuments(documents=[], skipped=[], dry_run=dry_run)
        jobs = {} if dry_run else await _retried(server, name, code)
        for each in found:
            facts = AgainFacts(
                document_id=each.id,
                name=each.name,
                code="" if each.error is None else each.error.code,
                job_id=jobs.get(each.id),
            )
            done["documents" if dry_run or each.id in jobs else "skipped"].append(facts)
        return done

    retrying.show(given, with_server(given, work))


async def _retried(server: Penstock, name: str | None, code: str | None) -> dict[str, str | None]:
    """The new job of each document."""
    retried = await server.retry_failed(collection=name, code=code)
    return {str(each.document_id): each.job_id for each in retried}


@click.pass_obj
def delete(given: Given, name: str, paths: Sequence[str], ids: Sequence[str], dry_run: bool) -> None:
    """Have the server delete documents by their ids."""
    deleting.check(paths, ids)
    if paths:
        raise unable(
            "--path names files by where they lie on this machine; use --document ID, or --path works"
        )

    async def work(server: Penstock) -> RemovedDocuments:
        found = {each: await server.document(each) for each in dict.fromkeys(ids)}
        for each in found.values():
            if each.collection != name:
                raise Refused(f"there is no document {each.id!r} in {name}", code="ERR_DOCUMENT_UNKNOWN")
        jobs: dict[str | None, str | None] = {}
        there = list(found)
        for start in range(0, 0 if dry_run else len(there), AT_ONCE):
            some = await server.delete_documents(*there[start : start + AT_ONCE])
            jobs |= {each.document_id: each.job_id for each in some}
        return RemovedDocuments(
            collection=name,
            documents=[
                RemovalFacts(name=document.name, job_id=jobs.get(each)) for each, document in found.items()
            ],
            dry_run=dry_run,
        )

    deleting.show(given, with_server(given, work))
