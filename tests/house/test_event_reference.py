"""The page of events tells of every event there is."""

import json
from dataclasses import fields
from pathlib import Path
from typing import get_args

from penstock.doors.live.frames import (
    CONNECTION_WORDS,
    Passing,
    Reason,
    ready_frame,
    resync_frame,
    word_frame,
)
from penstock.model.events import EVENT_TYPES, Event
from penstock.model.feed import Snapshot

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "events.md"


def told(section: str) -> dict[str, list[str]]:
    """Types and their payload fields, as one section of the page has them."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {section}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in text.splitlines() if line.startswith("| `")]
    return {name.strip(" `"): [field.strip(" `") for field in payload.split(",")] for name, payload in rows}


def test_every_event_is_on_the_page_with_its_fields() -> None:
    """Names and payload fields on the page are those of the code, no more and no fewer."""
    events = told("Events of the log")

    assert events == {kind.type: [field.name for field in fields(kind)] for kind in get_args(Event)}
    assert set(events) == set(EVENT_TYPES)


def test_what_passes_is_on_the_page_with_its_fields() -> None:
    """The same for what is told without a number."""
    assert told("What passes") == {
        kind.type: [field.name for field in fields(kind)] for kind in get_args(Passing)
    }


def test_words_about_the_connection_are_on_the_page() -> None:
    """What the live door itself says has the fields the page names."""
    frames = [
        ready_frame(1, None),
        resync_frame(Reason.FUTURE, Snapshot(seq=1)),
        word_frame("auth", expires_at=None),
        word_frame("closed", code=1012, reason=""),
    ]
    said = [json.loads(frame.text) for frame in frames]

    assert told("Words about the connection") == {each["type"]: list(each["payload"]) for each in said}
    assert told("Words about the connection").keys() == CONNECTION_WORDS.keys()
