"""What the machine draws: few tenants and paths, so that jobs meet; every type, operation and outcome."""

from dataclasses import dataclass

from hypothesis import strategies as st

from penstock.model.jobs import NewJob, Operation, WorkerId
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from penstock.model.payloads import ItemType
from penstock.model.standing import PauseScope
from tests.support.jobs import (
    Overrides,
    a_delete,
    a_document_delete,
    a_folder,
    a_job,
    a_note,
    a_rename,
    a_scan,
    a_tenant_delete,
    an_error,
)

WORKERS = (WorkerId("w1"), WorkerId("w2"), WorkerId("w3"))
SCOPES: tuple[tuple[PauseScope, str], ...] = (
    (PauseScope.ALL, ""),
    (PauseScope.TENANT, "a"),
    (PauseScope.COLLECTION, "notes"),
    (PauseScope.TYPE, ItemType.FILE.value),
    (PauseScope.TYPE, ItemType.DELETE_TENANT.value),
)
KINDS = (
    "ingest",
    "ingest",
    "update",
    "delete",
    "rename",
    "delete by path",
    "note",
    "folder",
    "scan",
    "folder delete",
    "tenant delete",
)
OPERATIONS = {"update": Operation.UPDATE, "folder delete": Operation.DELETE}


@dataclass(frozen=True)
class Intent:
    """A job to be, before it has an id and a time."""

    kind: str
    tenant: str
    path: int
    size: int
    priority: int
    max_retries: int
    delay: float | None

    def job(self, now: float) -> NewJob:
        """The job; files, folders, renames and deletes by path share their subjects."""
        path = f"/p/{self.path}"
        chosen: Overrides = {
            "tenant": self.tenant,
            "collection": "drafts" if self.kind == "note" else "notes",
            "priority": self.priority,
            "max_retries": self.max_retries,
            "run_at": None if self.delay is None or "delete" in self.kind else now + self.delay,
        }
        if self.kind in OPERATIONS:
            chosen["op"] = OPERATIONS[self.kind]
        match self.kind:
            case "ingest" | "update":
                return a_job(path, size=self.size, **chosen)
            case "delete":
                return a_delete(path, **chosen)
            case "rename":
                return a_rename(path, f"/q/{self.path}", **chosen)
            case "delete by path":
                return a_document_delete(path, **chosen)
            case "note":
                return a_note(f"note {self.path}", **chosen)
            case "folder" | "folder delete":
                return a_folder(path, depth=self.size, **chosen)
            case "scan":
                return a_scan(path, depth=self.size, **chosen)
            case _:
                return a_tenant_delete(**chosen)


intents = st.builds(
    Intent,
    kind=st.sampled_from(KINDS),
    tenant=st.sampled_from("aaabbc"),
    path=st.integers(0, 2),
    size=st.integers(1, 9),
    priority=st.sampled_from([0, 5, 5, 9, 10]),
    max_retries=st.sampled_from([0, 1, 3, 3]),
    # A fraction against whole steps of the clock: nothing falls due exactly at the end of a step.
    delay=st.sampled_from([None, None, None, 20.5, 200.5]),
)
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(
    [
        DONE,
        DONE,
        Failed(an_error("ERR_BROKEN")),
        Retry(an_error("ERR_HANDLER_FAILED")),
        Retry(an_error("ERR_TIMEOUT")),
        Park(an_error("ERR_DEPENDENCY_DOWN")),
        Park(an_error("ERR_DEPENDENCY_DOWN"), 40.5),
        RELEASE,
    ]
)
picks = st.integers(0, 10_000)
workers = st.sampled_from(WORKERS)
scopes = st.sampled_from(SCOPES)
