"""Collections as pictures for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from penstock.doors.cli.collection.shapes import CollectionDetails, CollectionFacts
from penstock.doors.cli.columns import GAP, Column
from penstock.doors.cli.output import clean
from penstock.doors.cli.tables import Fitted
from penstock.doors.cli.words import since, size

FAILURES_SHOWN = 10
STATES = {"ingested": "green", "pending": "cyan", "parsed": "blue", "error": "red"}
"""One colour for a document's state, wherever it is shown."""


def collections(found: Sequence[CollectionFacts]) -> RenderableType:
    """All collections in a table; what asks for attention stands below."""
    notes = [
        Text(f"{each['name']}: {'; '.join(each['recipe_differences'])}", style="yellow")
        for each in found
        if each.get("recipe_differences")
    ]
    if notes:
        notes.append(Text("to apply: penstock ingest reindex --rag NAME", style="dim"))
    table = Fitted(
        [
            Column(title="COLLECTION", cells=[Text(each["name"]) for each in found]),
            _numbers("INGESTED", found, lambda each: each["documents"]["ingested"], "green"),
            _numbers("PENDING", found, _pending, "cyan"),
            _numbers("ERROR", found, lambda each: each["documents"]["error"], "red"),
            _numbers("CHUNKS", found, lambda each: each["chunks"], "", rank=1),
            Column(title="SIZE", cells=[Text(size(each["bytes"])) for each in found], rank=2, is_right=True),
            Column(
                title="DESCRIPTION",
                cells=[Text(clean(each["description"]), style="dim") for each in found],
                is_flexible=True,
            ),
        ]
    )
    return Group(table, *([Text(), *notes] if notes else []))


def _pending(each: CollectionFacts) -> int:
    return each["documents"]["pending"] + each["documents"]["parsed"]


def _numbers(
    title: str,
    found: Sequence[CollectionFacts],
    count: Callable[[CollectionFacts], int],
    style: str,
    rank: int = 0,
) -> Column:
    cells = [Text(f"{count(each):,}", style=style if count(each) else "dim") for each in found]
    return Column(title=title, cells=cells, rank=rank, is_right=True)


def collection(found: CollectionDetails, now: float) -> RenderableType:
    """Everything about one collection, a fact a line; failures below."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("name", Text(found["name"], style="bold"))
    if found["description"]:
        table.add_row("description", Text(clean(found["description"])))
    made = datetime.fromisoformat(found["created_at"]).timestamp()
    table.add_row("created", Text(f"{found['created_at']}  {since(made, now)}"))
    table.add_row("documents", _states(found))
    table.add_row("chunks", f"{found['chunks']:,}")
    table.add_row("size", size(found["bytes"]))
    recipe = ", ".join(f"{name} {value}" for name, value in found["recipe"].items())
    table.add_row("recipe", Text(clean(recipe)))
    for difference in found.get("recipe_differences", ()):
        table.add_row("", Text(f"{clean(difference)}: reindex to apply", style="yellow"))
    building = found["building_progress"]
    if building is not None:
        table.add_row("rebuilding", f"{building['done']:,} of {building['total']:,} documents")
    elif found["building"]:
        table.add_row("rebuilding", "beside the index that answers")
    for number, source in enumerate(found["sources"]):
        how = "files are moved through it" if source["own"] else "only read"
        watched = "watched" if source["watch"] else "not watched"
        path = Text(clean(source["path"])).append(f"  {how}, {watched}", style="dim")
        table.add_row("" if number else "sources", path)
        if untaken := source.get("untaken"):
            told = f"{untaken:,} there never taken, see: penstock doctor"
            table.add_row("", Text(told, style="yellow"))
    return Group(table, *_failures(found))


def _states(found: CollectionDetails) -> Text:
    parts = [
        Text(f"{count:,} {word}", style=STATES[word] if count else "dim")
        for word, count in (
            ("ingested", found["documents"]["ingested"]),
            ("pending", found["documents"]["pending"]),
            ("parsed", found["documents"]["parsed"]),
            ("error", found["documents"]["error"]),
        )
    ]
    return Text(", ").join(parts)


def _failures(found: CollectionDetails) -> list[RenderableType]:
    if not found["failures"]:
        return []
    shown = found["failures"][:FAILURES_SHOWN]
    table = Fitted(
        [
            Column(title="FAILED", cells=[Text(clean(each["name"])) for each in shown], is_flexible=True),
            Column(title="ERROR", cells=[Text(each["error"]["code"], style="red") for each in shown]),
        ]
    )
    rest = sum(found["failures_by_code"].values()) - len(shown)
    more = [Text(f"… and {rest:,} more", style="dim")] if rest else []
    advice = Text(f"to try again: penstock ingest retry --failed --rag {found['name']}", style="dim")
    return [Text(), table, *more, advice]
