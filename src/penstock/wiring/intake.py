"""What the command line hands in, taken through the one way in there is."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from penstock.engines.disk import DiskFinder
from penstock.engines.disk.moving import DiskMover
from penstock.engines.git import GitProjects
from penstock.intake.admission import PORTION, Admission, Admitted, Order, admit_deletion
from penstock.intake.whereabouts import Whereabouts
from penstock.model.catalogue import (
    LOCAL_TENANT,
    LOCAL_WORKSPACE,
    Collection,
    Document,
    DocumentState,
    NewDocument,
    StageKind,
)
from penstock.model.errors import Refused
from penstock.model.files import Portion, Selection
from penstock.model.ids import documented_ids
from penstock.model.jobs import Job, JobId, NewJob, Operation, TenantId
from penstock.model.options import Options
from penstock.model.payloads import Content, File, Folder, Library, Project
from penstock.model.stored_json import stored_object
from penstock.model.surveys import EXAMPLES_MAX
from penstock.ports.clock import Clock
from penstock.ports.codec import decode_payload
from penstock.ports.database import Transaction
from penstock.settings import Settings
from penstock.wiring.collections import declared
from penstock.wiring.store import Store
from penstock.wiring.watching import folders_of

DRAWS = 5
"""How often ids are drawn again where one was taken."""
Submittable = File | Content | Folder | Project | Library


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One thing to be ingested, checked already."""

    payload: Submittable
    name: str
    priority: int
    size: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How many files a folder or project holds, their bytes, and what was overlooked, the first with why."""

    files: int
    bytes: int
    overlooked: int
    named: list[str]


async def submit_all(
    store: Store, settings: Settings, collection: str, requests: Sequence[Request], options: Options
) -> list[Admitted]:
    """Accept every request; the answers stand in the order of the requests."""
    admission = Admission(store)
    answers: dict[int, Admitted] = {}
    files: dict[int, list[tuple[int, str]]] = {}
    for number, request in enumerate(requests):
        order = Order(
            tenant=LOCAL_TENANT,
            collection=collection,
            priority=request.priority,
            options=options,
            max_retries=settings.worker.max_retries,
        )
        match request.payload:
            case File() as file:
                files.setdefault(request.priority, []).append((number, file.file_path))
            case Content() as content:
                answers[number] = await admission.text(order, content, name=request.name)
            case Project() as project:
                tenant = await _tenant_of(store, project)
                answers[number] = await admission.job(
                    replace(order, tenant=tenant), project, Operation.INGEST
                )
            case other:
                answers[number] = await admission.job(order, other, Operation.INGEST)
    for priority, some in files.items():
        order = Order(
            tenant=LOCAL_TENANT,
            collection=collection,
            priority=priority,
            options=options,
            max_retries=settings.worker.max_retries,
        )
        admitted = await _admit_files(admission, order, [path for _, path in some], settings, store.clock)
        answers |= {number: each for (number, _), each in zip(some, admitted, strict=True)}
    return [answers[number] for number in range(len(requests))]


async def _tenant_of(store: Store, project: Project) -> TenantId:
    """The tenant a project is, registered under the local workspace from now on."""
    git = GitProjects(shutil.which("git"))
    facts = await git.facts(Path(project.project_root), remote=project.git_remote)
    tenant = TenantId(facts.tenant)
    if await store.write(lambda tx: tx.shelves.join(tenant, LOCAL_WORKSPACE)) != LOCAL_WORKSPACE:
        raise Refused(
            f"{project.project_root} is a project of another workspace than yours", code="ERR_TENANT_INVALID"
        )
    return tenant


async def _admit_files(
    admission: Admission, order: Order, paths: Sequence[str], settings: Settings, clock: Clock
) -> list[Admitted]:
    """Files by ids of the form programs know that read the queue on Redis; elsewhere any form will do."""
    if settings.queue.scheme == "database":
        return await admission.files(order, paths)
    for left in reversed(range(DRAWS)):
        drawn = documented_ids(order.collection, clock.now(), len(paths))
        ids = {path: JobId(job_id) for path, job_id in zip(paths, drawn, strict=True)}
        try:
            return await admission.files(order, paths, ids=ids)
        except Refused as refused:
            # What was accepted before waits under its id: handed in again it joins itself.
            if refused.code != "ERR_JOB_ID_TAKEN" or not left:
                raise
    raise AssertionError("unreachable")


async def moved_to(store: Store, settings: Settings, collection: Collection, path: str) -> list[Document]:
    """The documents of a collection whose dropped file lies there now."""
    whereabouts = Whereabouts(folders_of(settings), DiskMover())
    found = await whereabouts.documents_at(store.catalogue, collection.workspace, path)
    return [each for each in found if each.collection == collection.id]


async def delete_all(
    store: Store, settings: Settings, documents: Sequence[Document], *, priority: int
) -> list[Admitted]:
    """Take documents out of sight now, each as its own tenant's; their jobs end what is done with them."""
    admitted: list[Admitted] = []
    for at in range(0, len(documents), PORTION):
        portion = documents[at : at + PORTION]
        admitted += await store.write(
            partial(_delete, documents=portion, settings=settings, priority=priority)
        )
    return admitted


def _delete(
    tx: Transaction, documents: Sequence[Document], settings: Settings, priority: int
) -> list[Admitted]:
    return [
        admit_deletion(
            tx,
            Order(
                tenant=each.tenant,
                collection=each.collection_name,
                priority=priority,
                max_retries=settings.worker.max_retries,
            ),
            each,
        )
        for each in documents
    ]


async def last_job(store: Store, document: Document) -> Job | None:
    """The job that last tried to ingest it, if it is still kept."""
    stages = await store.catalogue.stages(document.id)
    for stage in reversed([each for each in stages if each.kind is not StageKind.TASK]):
        if (job := await store.desk.find(stage.job)) is not None:
            return job
    return None


def check_failed(document: Document) -> None:
    """Refused unless it is in error, so that there is something to try again."""
    if document.state is not DocumentState.ERROR:
        is_done = document.state is DocumentState.INGESTED
        code = "ERR_NOTHING_FAILED" if is_done else "ERR_JOB_UNFINISHED"
        raise Refused(f"it is {document.state}, not in error", code=code)


async def try_again(store: Store, document: Document, job: Job) -> JobId:
    """Run the job of a document in error again, as a new one that names it; the document waits from now."""
    return await store.write(lambda tx: submit_again(tx, document, job))


def submit_again(tx: Transaction, document: Document, job: Job) -> JobId:
    """The same together with the caller's own changes; Refused if it is gone or no longer in error."""
    now = tx.documents.get(document.id)
    if now is None or now.hidden:
        raise Refused("there is no such document", code="ERR_DOCUMENT_UNKNOWN")
    check_failed(now)
    again = NewJob(
        tenant=job.tenant,
        collection=now.collection_name,
        payload=decode_payload(job.item_type, job.payload_json),
        op=job.op,
        priority=job.priority,
        document_id=None if job.document_id is None else now.id,
        max_retries=job.max_retries,
        branch=job.branch,
        metadata=_object(job.metadata_json),
        replay_of=job.id,
    )
    new = NewDocument(
        tenant=now.tenant,
        collection=now.collection,
        source=now.source,
        identity=now.identity,
        name=now.name,
        branch=now.branch,
        metadata=stored_object(now.metadata_json),
    )
    (receipt,) = tx.submit([again])
    tx.documents.admit(new, job=receipt.job_id)
    return receipt.job_id


def _object(text: str) -> dict[str, object]:
    """A stored JSON object; what somebody wrote by hand instead counts as nothing."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


async def count_files(below: Folder | Project, files_max: int) -> Counted:
    """What the ingest of a folder or project would find; Refused where it would be."""
    files, total, overlooked, named = 0, 0, 0, list[str]()
    async for portion in portions_of(below, files_max):
        files += len(portion.files)
        total += sum(file.size for file in portion.files)
        overlooked += len(portion.overlooked)
        room = EXAMPLES_MAX - len(named)
        named += [f"{each.path} ({each.why})" for each in portion.overlooked[:room]]
    return Counted(files=files, bytes=total, overlooked=overlooked, named=named)


def portions_of(below: Folder | Project, files_max: int) -> AsyncGenerator[Portion, None]:
    """The files an ingest of a folder or project finds, by the same rules, some at a time."""
    if isinstance(below, Project):
        git = GitProjects(shutil.which("git"))
        return git.walk(Path(below.project_root), Selection(files_max=files_max))
    selection = Selection(
        patterns=below.patterns,
        ignore_patterns=below.ignore_patterns,
        recursive=below.recursive,
        recursive_depth=below.recursive_depth,
        files_max=files_max,
    )
    return DiskFinder().walk(Path(below.folder_path), selection)


def source_folders(settings: Settings, collection: Collection) -> list[Folder]:
    """The folders the configuration names for a collection, as jobs ask for them."""
    return [
        Folder(
            folder_path=str(source.path),
            recursive=source.recursive,
            recursive_depth=source.depth,
            patterns=source.patterns,
            ignore_patterns=source.ignore_patterns,
        )
        for source in declared(settings, collection).sources
    ]


def file_bytes_max(settings: Settings, collection: Collection) -> int:
    """The largest file a collection takes."""
    return declared(settings, collection).limits.bytes_within(settings.limits.file_bytes)
