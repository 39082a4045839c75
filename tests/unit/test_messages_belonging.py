"""Where a message belongs: its collection, its folder, its workspace; elsewhere it may not go."""

import json
from typing import Any

import pytest

from penstock.intake.messages import Declared, Place, translate
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, WorkspaceId
from penstock.model.jobs import NewJob, Operation, TenantId
from penstock.model.messages import Refusal
from penstock.model.options import Options, Origin, options_of
from penstock.model.payloads import File
from penstock.model.provenance import Provenance, provenance_of
from penstock.model.spans import Trace, trace_of
from tests.support.messages import QUEUE, SUBMITTED, WORKER

ACME = WorkspaceId("acme-workspace")
POLICIES = Place(
    collection="policies_rag",
    tenant=LOCAL_TENANT,
    incoming="/app/data/sources/policies_rag/incoming",
    sources=("/srv/policies",),
)
FAQ = Place(
    collection="faq_rag",
    tenant=LOCAL_TENANT,
    incoming="/app/data/sources/faq_rag/incoming",
    sources=("/srv/policies/faq", "/srv/faq"),
)
SECRETS = Place(
    collection="secrets",
    tenant=TenantId("acme"),
    workspace=ACME,
    incoming="/app/data/sources/secrets/incoming",
    sources=("/srv/acme",),
)
DECLARED = Declared(
    places=(POLICIES, FAQ, SECRETS),
    roots=("/srv/scan",),
    default="policies_rag",
    tenants={LOCAL_TENANT: LOCAL_WORKSPACE, TenantId("acme"): ACME},
    newcomers=LOCAL_WORKSPACE,
)


def job_of(fields: dict[str, Any], declared: Declared = DECLARED, **given: Any) -> NewJob:
    job = translate(json.dumps(fields).encode(), declared, **given)
    assert isinstance(job, NewJob), job
    return job


def refusal_of(fields: dict[str, Any], declared: Declared = DECLARED) -> Refusal:
    refusal = translate(json.dumps(fields).encode(), declared)
    assert isinstance(refusal, Refusal), refusal
    return refusal


def options(job: NewJob) -> Options:
    return options_of(json.dumps(dict(job.metadata)))


def test_a_message_about_an_incoming_file_becomes_its_collections_job() -> None:
    """It is moved when it is through; that it is missing would be an error; no link is followed below."""
    job = job_of(QUEUE, priority=1)

    assert (job.id, job.collection, job.tenant) == (QUEUE["job_id"], "policies_rag", LOCAL_TENANT)
    assert (job.op, job.priority, job.max_retries) == (Operation.INGEST, 1, 3)
    assert job.payload == File(file_path=QUEUE["source_path"], file_type="pdf")
    assert options(job) == Options(origin=Origin.INCOMING, demanded=True, root=POLICIES.incoming)
    assert provenance_of(job.metadata) == Provenance(
        filename="my_policy.pdf", submitted_at=SUBMITTED, submitted_by="cli", max_retries=3
    )


def test_a_message_about_a_users_own_file_only_reads_it() -> None:
    """Its root is the folder the file lies below, so that the bytes are taken without following links."""
    job = job_of(QUEUE | {"source_path": "/srv/policies/2025/leave.pdf"})

    assert options(job) == Options(origin=Origin.ASKED, root="/srv/policies")


def test_what_a_message_asks_for_is_kept_with_its_job() -> None:
    """Options become the job's own, a rebuild is for whoever takes it in, the rest is remembered."""
    asked = {
        "options": {"reindex": True, "skip_validation": True, "preserve_metadata": False},
        "retry_count": 2,
        "priority": 7,
        "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
        "department": "legal",
    }
    job = job_of(QUEUE | asked)
    told = provenance_of(json.dumps(dict(job.metadata)))

    found = options(job)
    assert (found.reindex, found.skip_validation, found.preserve_metadata) == (False, True, False)
    assert (told.reindex, told.retry_count, told.extra) == (True, 2, {"department": "legal"})
    assert (told.trace_id, job.priority) == (asked["trace_id"], 7)


@pytest.mark.parametrize(
    ("path", "collection", "root"),
    [
        ("/srv/policies/a.pdf", "policies_rag", "/srv/policies"),
        ("/srv/policies/faq/a.pdf", "faq_rag", "/srv/policies/faq"),
        ("/app/data/sources/faq_rag/incoming/a.pdf", "faq_rag", FAQ.incoming),
        ("/srv/scan/deep/a.pdf", "policies_rag", "/srv/scan"),
    ],
)
def test_a_job_without_a_collection_takes_the_one_whose_folder_holds_the_file(
    path: str, collection: str, root: str
) -> None:
    """The innermost folder decides; below a root that is nobody's the default does."""
    job = job_of(WORKER | {"filepath": path})

    assert (job.collection, options(job).root) == (collection, root)
    assert (job.priority, job.payload) == (9, File(file_path=path, size_bytes=12))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rag_id": "nowhere"}, "ERR_COLLECTION_UNKNOWN"),
        ({"source_path": "/etc/passwd"}, "ERR_SOURCE_FORBIDDEN"),
        ({"source_path": "/srv/policies"}, "ERR_SOURCE_FORBIDDEN"),
        ({"source_path": "/srv/policies-2/a.pdf"}, "ERR_SOURCE_FORBIDDEN"),
        ({"source_path": "/srv/policies/../acme/a.pdf"}, "ERR_PATH_INVALID"),
        ({"source_path": "/app/data/sources/policies_rag/failed/a.pdf"}, "ERR_SOURCE_FORBIDDEN"),
        ({"source_path": "/srv/acme/plan.pdf"}, "ERR_SOURCE_FORBIDDEN"),
        ({"tenant_id": "acme"}, "ERR_COLLECTION_UNKNOWN"),
        ({"rag_id": "secrets", "tenant_id": "local"}, "ERR_COLLECTION_UNKNOWN"),
        ({"rag_id": "secrets", "tenant_id": "acme"}, "ERR_SOURCE_FORBIDDEN"),
        ({"extra": "x" * 70_000}, "ERR_METADATA_TOO_LARGE"),
    ],
)
def test_a_message_that_belongs_nowhere_is_refused(change: dict[str, Any], code: str) -> None:
    """Unknown collections, foreign folders and foreign tenants' objects."""
    assert refusal_of(QUEUE | change).code == code


def test_a_span_continues_the_trace_of_its_message() -> None:
    """The job's metadata holds it where spans look for it, whichever shape the message had."""
    for fields in (WORKER | {"filepath": "/srv/policies/a.pdf"}, QUEUE | {"trace_id": WORKER["trace_id"]}):
        trace = trace_of(json.dumps(dict(job_of(fields).metadata)))

        assert trace == Trace(WORKER["trace_id"], fields.get("span_id"))


def test_a_file_in_nobodys_folder_needs_a_default() -> None:
    """Without one the second shape says no more than a path, and that is not enough."""
    lonely = Declared(places=(POLICIES,), roots=("/srv/scan",))

    assert refusal_of(WORKER | {"filepath": "/srv/scan/a.pdf"}, lonely).code == "ERR_COLLECTION_UNKNOWN"
    assert refusal_of(WORKER | {"filepath": "/etc/passwd"}, lonely).code == "ERR_SOURCE_FORBIDDEN"


def test_an_unknown_tenant_joins_the_local_workspace_or_is_refused() -> None:
    """Local mode takes newcomers in; elsewhere nobody speaks for a tenant that is not there."""
    newcomer = QUEUE | {"tenant_id": "someone"}
    closed = Declared(places=DECLARED.places, tenants=DECLARED.tenants, newcomers=None)

    assert job_of(newcomer).tenant == "someone"
    assert refusal_of(newcomer, closed).code == "ERR_TENANT_INVALID"


def test_a_refusal_says_nothing_of_another_tenants_collections() -> None:
    """A collection of another workspace and one that does not exist are refused in the same words."""
    theirs = refusal_of(QUEUE | {"rag_id": "secrets", "tenant_id": "local"})
    nobodys = refusal_of(QUEUE | {"rag_id": "nothing", "tenant_id": "local"})

    assert theirs.message.replace("secrets", "") == nobodys.message.replace("nothing", "")


def test_a_refusal_is_a_permanent_error() -> None:
    """As a report it can be kept and shown like any other."""
    refusal = refusal_of(QUEUE | {"rag_id": "nowhere"})
    report = refusal.report()

    assert (report.code, report.kind) == ("ERR_COLLECTION_UNKNOWN", "permanent")
    assert report.suggestions
    assert refusal.job_id == QUEUE["job_id"]
