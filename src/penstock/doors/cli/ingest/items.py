"""What was handed in, thing by thing: as facts, and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.doors.cli import output
from penstock.doors.cli.ingest.oversights import Oversights
from penstock.doors.cli.ingest.shapes import ItemFacts
from penstock.doors.cli.words import plural, size
from penstock.model.payloads import Folder, Project, item_type_of

if TYPE_CHECKING:
    from penstock.intake.admission import Admitted
    from penstock.settings import Settings
    from penstock.wiring.intake import Request


async def plan_of(requests: Sequence[Request], settings: Settings, overlooked: Oversights) -> list[ItemFacts]:
    """What would be handed in, the files of folders and projects counted; what they keep back is noted."""
    from penstock.wiring.intake import count_files

    items = []
    for request in requests:
        item = item_of(request, None)
        if isinstance(request.payload, Folder | Project):
            counted = await count_files(request.payload, settings.limits.folder_files)
            item["files"], item["size"] = counted.files, counted.bytes
            overlooked.add(counted.overlooked, counted.named)
        items.append(item)
    return items


def item_of(request: Request, admitted: Admitted | None) -> ItemFacts:
    """One thing handed in, and the job it has once it was admitted."""
    return ItemFacts(
        kind=item_type_of(request.payload).value,
        name=request.name,
        size=request.size,
        files=None,
        priority=request.priority,
        job_id=None if admitted is None else admitted.job,
        how=None if admitted is None else admitted.how.value,
        document_id=None if admitted is None else admitted.document,
    )


def size_in(item: ItemFacts) -> str:
    """How large it is, in words."""
    told = "" if item["size"] is None else size(item["size"])
    return told if item["files"] is None else f"{plural(item['files'], 'file')}, {told}"


def tell_next(items: Sequence[ItemFacts]) -> None:
    """Say that it is submitted, and how to follow it."""
    hows = {item["how"] for item in items}
    joined = "" if hows == {"created"} else "; some joined a job that was waiting already"
    output.talk(f"{plural(len(items), 'job')} submitted{joined}; {to_follow(len(items))}:")
    output.talk(f"  penstock ingest status --job {items[0]['job_id']} --follow")


def to_follow(jobs: int) -> str:
    """The words before the command that follows so many jobs."""
    return "to follow it" if jobs == 1 else "to follow the first"
