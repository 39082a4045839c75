"""What may be asked: some text with at least one letter or digit in it, and not a whole book."""

from __future__ import annotations

from penstock.model.errors import Refused

QUESTION_CHARACTERS_MAX = 10_000


def checked(text: str) -> str:
    """The question as it is searched for: one line, without characters nobody can see.

    Operators of any query language, quotes and emoji are left as they are: the legs of the search take them
    for words or for nothing.
    """
    if len(text) > QUESTION_CHARACTERS_MAX:
        raise Refused(
            f"the question has {len(text):,} characters, at most {QUESTION_CHARACTERS_MAX:,} can be searched"
            " for; ask in fewer words, or submit the text as a document",
            code="ERR_QUERY_INVALID",
        )
    # What cannot be printed, a lone surrogate among it, stands in no stored text.
    seen = "".join(char if char.isprintable() else " " for char in text)
    question = " ".join(seen.split())
    if not question:
        raise Refused("the question is empty; say what to look for", code="ERR_QUERY_INVALID")
    if not any(char.isalnum() for char in question):
        raise Refused(
            f"the question {question[:40]!r} holds no letter and no digit, so there is nothing to search for",
            code="ERR_QUERY_INVALID",
        )
    return question
