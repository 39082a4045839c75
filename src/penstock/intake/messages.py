"""Messages of programs we did not write become jobs of ours, if they may.

A message is checked against what was declared: the collection it names, or the one whose folder its file
lies in; the folders documents may come from; and the workspace that owns both. Paths are compared as they
are written. A link on the way is met when the bytes are taken: the job names the root its file lies below,
and below a root no link is followed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.model.errors import Refused
from penstock.model.jobs import PRIORITY_NAMES, NewJob, Operation, TenantId
from penstock.model.messages import Message, Refusal, Terms, read_message, refusal_of
from penstock.model.options import Options, Origin
from penstock.model.payloads import File
from penstock.model.provenance import Provenance
from penstock.ports.codec import encode_metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A collection messages may name, whose it is, and the folders its files lie in."""

    collection: str
    tenant: TenantId
    workspace: WorkspaceId = LOCAL_WORKSPACE
    incoming: str
    """Its own folder: what lies there is moved when it is through."""
    sources: tuple[str, ...] = ()
    """Users' folders, which are only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Everything a message is checked against."""

    places: tuple[Place, ...] = ()
    roots: tuple[str, ...] = ()
    """Folders documents may come from that belong to no collection: the producer's, for one."""
    default: str | None = None
    """The collection of files in such a folder that name none."""
    tenants: Mapping[TenantId, WorkspaceId] = field(default_factory=dict)
    newcomers: WorkspaceId | None = None
    """The workspace tenants join that nobody knows; None refuses them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Belonging:
    """Where a message belongs, and the root its file lies below."""

    place: Place
    root: str
    tenant: TenantId


def translate(
    data: bytes,
    declared: Declared,
    *,
    terms: Terms | None = None,
    priority: int = PRIORITY_NAMES["normal"],
    metadata_bytes_max: int = 1 << 16,
) -> NewJob | Refusal:
    """The job these bytes ask for, or why there is none; `priority` is that of the list they came by."""
    message = read_message(data, terms or Terms())
    if isinstance(message, Refusal):
        return message
    try:
        job = job_of(message, belonging_of(message, declared), priority=priority)
        encode_metadata(job.metadata, bytes_max=metadata_bytes_max)
    except Refused as refused:
        return refusal_of(refused, message.id)
    return job


def belonging_of(message: Message, declared: Declared) -> Belonging:
    """Where a message belongs; Refused where it may not go, in words that tell nothing of other tenants."""
    workspace = None
    if message.tenant is not None:
        workspace = declared.tenants.get(message.tenant, declared.newcomers)
        if workspace is None:
            raise Refused("tenant_id names no tenant of this installation", code="ERR_TENANT_INVALID")
    places = [place for place in declared.places if workspace in (None, place.workspace)]
    if message.collection is None:
        place, root = home_of(message.path, places, declared)
    else:
        place = _by_name(message.collection, places)
        root = _root_for(message.path, place, places, declared.roots)
    return Belonging(place=place, root=root, tenant=message.tenant or place.tenant)


def job_of(message: Message, belonging: Belonging, *, priority: int) -> NewJob:
    """The job a message asks for, in the place it belongs to."""
    own = belonging.root == belonging.place.incoming
    options = Options(
        origin=Origin.INCOMING if own else Origin.ASKED,
        demanded=own,
        skip_validation=message.skip_validation,
        preserve_metadata=message.preserve_metadata,
        root=belonging.root,
    )
    told = Provenance(
        filename=message.filename,
        submitted_at=message.submitted_at,
        submitted_by=message.submitted_by,
        retry_count=message.retry_count,
        # The engine that hands the job out knows it; the book it is entered in later does not.
        max_retries=message.max_retries,
        # Not the job's own option, which means "from kept bytes": whoever takes the job in opens the
        # generation, and the document is built into both.
        reindex=message.reindex,
        trace_id=message.trace_id,
        span_id=message.span_id,
        extra=message.extra,
    )
    return NewJob(
        id=message.id,
        tenant=belonging.tenant,
        collection=belonging.place.collection,
        payload=File(file_path=message.path, file_type=message.source_type, size_bytes=message.size),
        op=Operation.INGEST,
        priority=priority if message.priority is None else message.priority,
        max_retries=message.max_retries,
        branch=message.branch,
        metadata={**options.as_metadata(), **told.as_metadata()},
    )


def _by_name(name: str, places: Sequence[Place]) -> Place:
    for place in places:
        if place.collection == name:
            return place
    raise Refused(f"there is no collection {name!r}", code="ERR_COLLECTION_UNKNOWN")


def home_of(path: str, places: Sequence[Place], declared: Declared) -> tuple[Place, str]:
    """The collection whose folder holds the file, innermost first; else the default, below a shared root."""
    held = [(root, place) for place in places for root in _holding(path, (place.incoming, *place.sources))]
    if held:
        root, place = max(held, key=lambda each: len(each[0]))
        return place, root
    root = _innermost(path, declared.roots)
    if declared.default is None:
        raise Refused(
            "the file lies in no collection's folder, and there is no default collection",
            code="ERR_COLLECTION_UNKNOWN",
        )
    return _by_name(declared.default, places), root


def _root_for(path: str, place: Place, places: Sequence[Place], shared: tuple[str, ...]) -> str:
    """The root the file lies below: one of the collection's own, else one others of the workspace have."""
    own = (place.incoming, *place.sources)
    if any(_holding(path, own)):
        return _innermost(path, own)
    neighbours = [
        root
        for other in places
        if other.workspace == place.workspace
        for root in (other.incoming, *other.sources)
    ]
    return _innermost(path, (*shared, *neighbours))


def _innermost(path: str, roots: tuple[str, ...]) -> str:
    found = max(_holding(path, roots), key=len, default=None)
    if found is None:
        raise Refused(
            "the file lies outside the folders documents may come from", code="ERR_SOURCE_FORBIDDEN"
        )
    return found


def _holding(path: str, roots: tuple[str, ...]) -> Iterator[str]:
    return (root for root in roots if path.startswith(root.rstrip("/") + "/") and path != root)
