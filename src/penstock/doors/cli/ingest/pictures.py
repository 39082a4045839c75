"""Documents and jobs of ingesting as pictures for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from penstock.doors.cli.columns import GAP, Column
from penstock.doors.cli.ingest.shapes import AgainFacts, BatchFacts, DocumentFacts, StatusRecord
from penstock.doors.cli.output import clean
from penstock.doors.cli.tables import Fitted
from penstock.doors.cli.words import plural, since, size, span

STATES = {
    "pending": "cyan",
    "parsed": "blue",
    "ingested": "green",
    "error": "red",
    "submitted": "cyan",
    "queued": "cyan",
    "processing": "blue",
    "running": "blue",
    "success": "green",
    "done": "green",
    "failed": "red",
}
"""One colour for a word, wherever it is shown."""
FAILURES_SHOWN = 10
BAR_WIDTH = 40


def documents(found: Sequence[DocumentFacts], now: float) -> Fitted:
    """A page of documents; the collection is shown where it differs."""
    differ = len({each["collection"] for each in found}) > 1
    names = [Text(clean(each["collection"]) if differ else "") for each in found]
    ages = [since(datetime.fromisoformat(each["updated_at"]).timestamp(), now) for each in found]
    return Fitted(
        [
            Column(title="DOCUMENT", cells=[Text(each["id"]) for each in found], rank=2),
            Column(title="STATE", cells=[_word(each["state"]) for each in found]),
            Column(title="COLLECTION", cells=names),
            Column(title="NAME", cells=[Text(_name(each)) for each in found], is_flexible=True),
            Column(title="CHUNKS", cells=[_count(each["chunks"]) for each in found], rank=1, is_right=True),
            Column(title="SIZE", cells=[_size(each) for each in found], rank=3, is_right=True),
            Column(title="ERROR", cells=[_code(each) for each in found]),
            Column(title="UPDATED", cells=[Text(age, style="dim") for age in ages], rank=1, is_right=True),
        ]
    )


def again(found: Sequence[AgainFacts]) -> Fitted:
    """Documents that are tried again, each with its new job."""
    return Fitted(
        [
            Column(title="DOCUMENT", cells=[Text(each["document_id"]) for each in found], rank=2),
            Column(title="NAME", cells=[Text(clean(each["name"])) for each in found], is_flexible=True),
            Column(title="ERROR", cells=[Text(each["code"], style="red") for each in found], rank=1),
            Column(title="NEW JOB", cells=[Text(each["job_id"] or "") for each in found]),
        ]
    )


def _name(each: DocumentFacts) -> str:
    is_known_by_name = each["source"] in ("content", "upload")
    return clean(each["name"] if is_known_by_name else each.get("identity", each["name"]))


def _count(number: int) -> Text:
    return Text(f"{number:,}", style="" if number else "dim")


def _size(each: DocumentFacts) -> Text:
    return Text("" if each["size"] is None else size(each["size"]))


def _code(each: DocumentFacts) -> Text:
    return Text("" if each["error"] is None else each["error"]["code"], style="red")


def _word(word: str) -> Text:
    return Text(word, style=STATES.get(word, ""))


def record(found: StatusRecord) -> RenderableType:
    """One job: what matters to whoever waits for it."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("job", Text(found["job_id"]))
    table.add_row("about", Text(clean(found["filename"]), style="bold").append(f"  in {found['rag_id']}"))
    table.add_row("status", _word(found["status"]))
    if found["document_state"] is not None:
        table.add_row("document", _word(found["document_state"]).append(f"  {found['document_id']}", "dim"))
    table.add_row("submitted", Text(found["submitted_at"]))
    took = found.get("duration_seconds")
    if took is not None:
        table.add_row("took", Text(_took(took)))
    if found["chunks_created"]:
        tokens = [plural(found["tokens_used"], "token")] if "tokens_used" in found else []
        table.add_row("made", Text(", ".join([plural(found["chunks_created"], "chunk"), *tokens])))
    for number, stage in enumerate(found["stages"]):
        retries = f"  retry {stage['retry_count']}" if stage["retry_count"] else ""
        told = Text(f"{stage['stage']:8}") + _word(stage["status"]) + retries
        table.add_row("" if number else "stages", told)
    progress = found["progress"]
    if progress is not None and found["status"] == "processing":
        table.add_row("progress", _bar(progress["done"], progress["total"]))
    if isinstance(survey := found.get("found"), dict) and "new" in survey:
        _add_survey(table, survey)
    if found["batch"] is not None:
        _add_batch(table, found["batch"])
    if found["error"] is not None:
        table.add_row("error", Text(clean(f"{found['error']} ({found['error_code']})"), style="red"))
        for line in found["suggestions"]:
            table.add_row("", Text(clean(line)))
    return Group(table, *([Text(), Text(clean(found["why"]))] if "why" in found else []))


def _took(seconds: float) -> str:
    return f"{seconds:.1f}s" if seconds < 60 else span(seconds)


def _add_survey(table: Table, survey: Mapping[str, Any]) -> None:
    """What a look at a folder found, and what it left out."""
    told = ", ".join(f"{survey[word]:,} {word}" for word in ("new", "changed", "unchanged", "gone"))
    table.add_row("found", Text(f"{plural(survey['found'], 'file')}: {told}"))
    if survey["overlooked"]:
        table.add_row("left out", Text(f"{survey['overlooked']:,}", style="yellow"))
    shown = survey.get("examples", {}).get("overlooked", [])[:FAILURES_SHOWN]
    for each in shown:
        table.add_row("", Text(clean(str(each)), style="yellow"))
    if survey["overlooked"] > len(shown):
        table.add_row("", Text(f"… and {survey['overlooked'] - len(shown):,} more", style="dim"))


def _add_batch(table: Table, batch: BatchFacts) -> None:
    ended = batch["done"] + batch["failed"]
    table.add_row("files", _bar(ended, batch["total"] or None))
    if batch["failed"]:
        table.add_row("failed", Text(f"{batch['failed']:,}", style="red"))
    for each in batch["failures"][:FAILURES_SHOWN]:
        told = f"{each['name']}: {each['error']['message']} ({each['error']['code']})"
        table.add_row("", Text(clean(told), style="red"))
    if batch["failed"] > FAILURES_SHOWN:
        table.add_row("", Text(f"… and {batch['failed'] - FAILURES_SHOWN:,} more", style="dim"))


def _bar(done: int, total: int | None) -> RenderableType:
    if total is None:
        return Text(f"{done:,}")
    grid = Table.grid(padding=(0, GAP, 0, 0))
    grid.add_row(
        ProgressBar(total=max(total, 1), completed=done, width=BAR_WIDTH), Text(f"{done:,} of {total:,}")
    )
    return grid
