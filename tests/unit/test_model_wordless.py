"""Events of what is removed: which thing changed and to what is left, none of its words."""

from typing import Any

import pytest

from penstock.model.events import without_words

WORD = "ibis"
THING: dict[str, Any] = {
    "id": "7",
    "workspace_id": "3",
    "name": WORD,
    "title": WORD,
    "content": WORD,
    "collection": WORD,
    "citations": [{"document": WORD}],
    "metadata": {WORD: WORD},
    "recipe": {"model": WORD},
    "error": {"message": WORD},
    "error_code": "ERR_X",
    "error_message": WORD,
    "status": "done",
    "size": 5,
    "created_at": "2025-06-15T12:00:00Z",
    "title_of_tomorrow": WORD,
}
LEFT = {
    **{"id": "7", "workspace_id": "3", "error_code": "ERR_X", "status": "done", "size": 5},
    "created_at": "2025-06-15T12:00:00Z",
}


@pytest.mark.parametrize(
    "within", ["document", "message", "upload", "workspace", "collection", "conversation"]
)
def test_a_thing_keeps_its_id_and_state(within: str) -> None:
    """Texts that are nobody's words stay; the others are empty, also those nobody has thought of yet."""
    told = without_words({"workspace_id": "3", within: THING})

    assert WORD not in str(told)
    assert told["workspace_id"] == "3"
    thing = told[within]
    assert isinstance(thing, dict)
    assert thing.keys() == THING.keys()
    assert {name: value for name, value in thing.items() if value not in ("", [], {})} == LEFT


def test_a_change_keeps_what_it_is_about() -> None:
    """The fields of the event itself are judged alike."""
    told = without_words(
        {"document_id": "4", "collection": WORD, "metadata": {WORD: 1}, "retry_count": 2, "usage": None}
    )

    assert told == {"document_id": "4", "collection": "", "metadata": {}, "retry_count": 2, "usage": None}
