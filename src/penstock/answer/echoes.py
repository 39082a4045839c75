"""Whether a sentence merely says a question again: the nearest of all, and no answer to it.

Words that are only looked for stand in every sentence that speaks of them, so what holds them all is passed
over only where it is itself a question, or has no other word and no end, as a heading has. A question may be
typed without its mark; the word it begins with tells it then.
"""

from __future__ import annotations

import re

from penstock.answer.words import content_words, coverage

_CLOSING = "\"'`*_)]\u201d\u2019\u00bb\u300d\u300f"
_ASKING = "?\uff1f"
_ENDING = ".!\u2026\u3002\uff01"
_ASKING_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    what which who whom whose when where why how is are was were do does did can could may must shall should
    will would has have had
    """,
    )
)


def says_again(question: str, sentence: str) -> bool:
    """Does the sentence ask what was asked, or name it like a heading, and tell nothing?"""
    wanted = content_words(question)
    if is_asking(sentence) and coverage(wanted, sentence) == 1.0:
        return True
    if not is_ended(sentence) and content_words(sentence) <= wanted:
        return True
    return reads_as_question(question) and _plain(question) in _plain(sentence)


def is_ended(text: str) -> bool:
    """Does it end as a sentence does?"""
    return text.rstrip(_CLOSING)[-1:] in tuple(_ENDING + _ASKING)


def is_asking(text: str) -> bool:
    """Does it end as a question does?"""
    return text.rstrip(_CLOSING)[-1:] in tuple(_ASKING)


def reads_as_question(text: str) -> bool:
    """Is it a question, with or without its mark?"""
    words = _plain(text).split()
    return is_asking(text) or (len(words) > 1 and words[0] in _ASKING_WORDS)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
