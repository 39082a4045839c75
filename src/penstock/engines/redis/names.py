"""The names of keys: those the contracts document or let be configured, and ours beside them.

rag:ingest:queue                             any program pushes here; priority 5
rag:ingest:queue:high  :normal  :low         the lists of priorities 9, 5 and 1
rag:ingest:queue:<rag_id>                    one per declared collection; priority 5
rag:ingest:queue:priority-7                  our other priorities; a rag_id cannot be called so
rag:ingest:queue:priority-5:<tenant>         other tenants
rag:ingest:job:<id>, :ttl                    the documented status hash
rag:ingest:entry:<id>, task:<id>             what only the engine needs: a job as submitted, and since
rag:ingest:blank, blank:<collection>         the hash of a job nothing has come of, to be copied
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import msgspec

from penstock.model.jobs import PRIORITY_NAMES
from penstock.model.records import error_type
from penstock.model.rules import cancelled

DOCUMENTED_EXPIRY_SECONDS = 604_800
"""Seven days after its end a job's hash is gone."""

DEAD_LETTER = "rag:ingest:queue:dead-letter"
"""The documented list of dead letters."""

SEPARATOR = "\x1f"
"""Between the parts of a name of ours; no id or name of others has it."""

CALLED_OFF = ("ERR_CANCELLED", "ERR_SUPERSEDED")
"""Ends that scripts give jobs by themselves."""

FIXED = (
    "counts",
    "jobs",
    "done",
    "failed",
    "running",
    "due",
    "waiting",
    "tenants",
    "lanes",
    "ages",
    "turns",
    "closed",
    "pauses",
    "lifted",
    "suspects",
    "workers",
    "batches",
    "elements",
    "ended",
    "stale",
)
"""Keys every script gets, in the order of `parts/ground.lua`; completed list and dead letter follow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """A list other programs push to: its priority, and whose turn a message in it takes."""

    name: str
    rank: int
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """All key names of one queue."""

    home: str = "local"
    """The tenant whose jobs wait in the documented lists."""
    root: str = "rag:ingest:"
    queue: str = "rag:ingest:queue"
    lists: Mapping[int, str] = field(
        default_factory=lambda: MappingProxyType(
            {rank: f"rag:ingest:queue:{name}" for name, rank in PRIORITY_NAMES.items()}
        )
    )
    """The list of a priority, where it has a name of its own."""
    collections: Mapping[str, str] = field(default_factory=dict)
    """Declared collections with a list of their own (`rag_id`), and the tenant each belongs to."""
    processing: str = "jobqueue:worker:%s:processing"
    heartbeat: str = "worker:hb:%s"
    completed: str = "rag:ingest:completed"
    dead_letter: str = DEAD_LETTER
    completed_max: int = 1_000

    @property
    def wake(self) -> str:
        """The channel that rings when there may be something new to claim."""
        return f"{self.root}wake"

    @property
    def running(self) -> str:
        """The jobs that are leased, by the end of their leases."""
        return f"{self.root}running"

    @property
    def commits(self) -> str:
        """The channel that rings when something was committed to the database beside the queue."""
        return f"{self.root}commits"

    @property
    def inboxes(self) -> tuple[Inbox, ...]:
        """Every list other programs push to."""
        normal = PRIORITY_NAMES["normal"]
        found = {self.queue: Inbox(name=self.queue, rank=normal, tenant=self.home)}
        for rank, name in self.lists.items():
            found[name] = Inbox(name=name, rank=rank, tenant=self.home)
        ours = {self.completed, *self.dead_letters}
        for collection, tenant in self.collections.items():
            name = f"{self.queue}:{collection}"
            if name not in ours:
                found.setdefault(name, Inbox(name=name, rank=normal, tenant=tenant))
        return tuple(found.values())

    def list_of(self, rank: int, tenant: str) -> str:
        """The list our own jobs of a rank and a tenant wait in."""
        if tenant != self.home:
            return f"{self.queue}:priority-{rank}:{tenant}"
        return self.lists.get(rank) or f"{self.queue}:priority-{rank}"

    def lane_of(self, rank: int, tenant: str) -> tuple[str, str]:
        """That list, and the name by which it takes its turn, as `parts/lanes.lua` makes it."""
        name = self.list_of(rank, tenant)
        return name, f"{10 - rank:02d}{tenant}{SEPARATOR}{name}"

    def processing_of(self, worker: str) -> str:
        """The list of the messages a worker holds."""
        return self.processing.replace("%s", worker)

    def heartbeat_of(self, worker: str) -> str:
        """The key that says that a worker is alive."""
        return self.heartbeat.replace("%s", worker)

    def known_of(self, worker: str) -> str:
        """What its beats say of a worker."""
        return f"{self.root}worker:{worker}"

    def answered_to(self, worker: str) -> str:
        """What a worker's last claim was answered with."""
        return f"{self.root}claimed:{worker}"

    def strangers_of(self, worker: str) -> str:
        """Messages of other programs that a worker has taken and not yet adopted."""
        return f"{self.root}strangers:{worker}"

    def batch(self, batch: str) -> str:
        """How many children of a batch there are, and how they ended."""
        return f"{self.root}batch:{batch}"

    @property
    def dead_letters(self) -> tuple[str, ...]:
        """Every list letters may lie in: the configured one, and the documented one where that is ours."""
        documented = (DEAD_LETTER,) if DEAD_LETTER.startswith(self.root) else ()
        return tuple(dict.fromkeys((self.dead_letter, *documented)))

    @property
    def open_batches(self) -> str:
        """The batches of a parent that may still get children, by age."""
        return f"{self.root}batches:open"

    @property
    def oversized(self) -> str:
        """How the keys begin that hold messages too large for a letter."""
        return f"{self.root}oversized:"

    def replayed(self, name: str) -> str:
        """The key that remembers what came of a dead letter, by its id or by its job's."""
        return f"{self.root}replayed:{name}"

    def keys(self) -> list[str]:
        """What every script gets as KEYS."""
        fixed = [self.root + name for name in FIXED]
        return [*fixed, self.completed, self.dead_letter, *(inbox.name for inbox in self.inboxes)]

    def keys_of_new(self) -> list[str]:
        """What `submit_new` and `submit_one` get as KEYS before those of lists, tenants and collections."""
        fixed = ("counts", "jobs", "waiting", "lanes", "ages", "closed")
        return [self.root + name for name in fixed]

    def keys_of_usual(self) -> list[str]:
        """What `settle_usual` gets as KEYS before those of its worker and tenant."""
        fixed = [self.root + name for name in ("counts", "done", "running", "tenants", "closed", "ended")]
        return [*fixed, self.completed, f"{self.root}jobs"]

    def keys_of_claim(self, worker: str) -> list[str]:
        """What `claim` gets as KEYS beside those every script gets."""
        return [self.processing_of(worker), self.answered_to(worker), self.strangers_of(worker)]

    def keys_of_worker(self, worker: str) -> list[str]:
        """Everything that is kept of a worker, as `leave` gets it."""
        return [self.heartbeat_of(worker), self.known_of(worker), *self.keys_of_claim(worker)]

    def blank_of(self, collection: str) -> str:
        """The hash of a job of that collection that nothing has come of."""
        return f"{self.root}blank:{collection}"

    def subjects_of(self, tenant: str) -> str:
        """The first unfinished job of each subject of a tenant."""
        return f"{self.root}subjects:{tenant}"

    @property
    def blank(self) -> str:
        """The hash that those of a few are copied from."""
        return f"{self.root}blank"

    @property
    def form(self) -> str:
        """The hash that those of many alike are copied from, while they are submitted."""
        return f"{self.root}form"

    def packed(self) -> bytes:
        """What scripts make per-job names from."""
        return msgspec.msgpack.encode(
            {
                "root": self.root,
                "queue": self.queue,
                "home": self.home,
                "lists": {str(rank): name for rank, name in self.lists.items()},
                "inboxes": [(inbox.rank, inbox.tenant) for inbox in self.inboxes],
                "processing": self.processing,
                "wake": self.wake,
                "expiry": str(DOCUMENTED_EXPIRY_SECONDS),
                "completed_max": self.completed_max,
                "families": {code: error_type(cancelled(code)) for code in CALLED_OFF},
            }
        )


def packed(values: object) -> bytes:
    """A value as a script unpacks it."""
    return msgspec.msgpack.encode(values)


def raw(text: bytes) -> msgspec.Raw:
    """Bytes packed as a text: scripts unpack no other kind."""
    head = b"\xd9" + len(text).to_bytes(1) if len(text) < 256 else b"\xdb" + len(text).to_bytes(4)
    return msgspec.Raw(head + text)
