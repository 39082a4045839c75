"""The page of events tells of every event there is."""

from dataclasses import fields
from pathlib import Path
from typing import get_args

from penstock.model.events import EVENT_TYPES, Event

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "events.md"


def test_every_event_is_on_the_page_with_its_fields() -> None:
    """Names and payload fields on the page are those of the code, no more and no fewer."""
    rows = [
        line.split("|")[1:3]
        for line in PAGE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    told = {name.strip(" `"): [field.strip(" `") for field in payload.split(",")] for name, payload in rows}

    assert told == {kind.type: [field.name for field in fields(kind)] for kind in get_args(Event)}
    assert set(told) == set(EVENT_TYPES)
