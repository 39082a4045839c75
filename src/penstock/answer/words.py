"""Words of a text, for telling whether two texts speak of the same things.

Folded to lower case without accents and cut to a stem, so that `heating` meets `heated`. Scripts that write
no spaces give every pair of neighbouring characters instead, since where a word ends is not written there.
"""

from __future__ import annotations

import re
import unicodedata

_RUN = re.compile(r"[^\W_]+")
# Han, kana, Thai, Lao, Khmer and Burmese letters: written without spaces.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]+"
)
_ENDINGS = (
    "ations",
    "ation",
    "ingly",
    "ments",
    "ment",
    "ness",
    "ings",
    "ies",
    "ing",
    "ely",
    "ed",
    "es",
    "ly",
    "s",
    "e",
    "y",
)
STEM_MIN = 3

COMMON = frozenset(
    _RUN.findall(
        """
    a about after all also am an and any are as at be because been before being between both but by can could
    did do does doing done for from get give had has have having he her here hers him his how i if in into is
    it its itself just let many may me might more most much must my no nor not of off on once one only or
    other our out over own per please say said see shall she should show so some such tell than that the
    their them then there these they this those through to too under until up upon us use used using very
    was we were what when where whether which while who whom whose why will with within without would you
    your yours
    """
    )
)
"""English words that say nothing of what a question is about."""


def content_words(text: str) -> frozenset[str]:
    """The stems of what a text is about; all its words where it holds none but common ones."""
    found = [word for run in _RUN.findall(text) for word in _of_run(_folded(run))]
    telling = [word for word in found if word not in COMMON and (len(word) > 1 or word.isdigit())]
    return frozenset(stem(word) for word in telling or found)


def stems(text: str) -> frozenset[str]:
    """The stems of every word of a text."""
    return frozenset(stem(word) for run in _RUN.findall(text) for word in _of_run(_folded(run)))


def coverage(wanted: frozenset[str], text: str) -> float:
    """The share of the wanted stems that the text holds."""
    return len(wanted & stems(text)) / len(wanted) if wanted else 0.0


def stem(word: str) -> str:
    """The word without its English ending; two forms of one word mostly meet in it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= STEM_MIN:
            return word[: -len(ending)]
    return word


def _folded(run: str) -> str:
    apart = unicodedata.normalize("NFKD", run.casefold())
    return "".join(char for char in apart if not unicodedata.combining(char))


def _of_run(run: str) -> list[str]:
    if not _UNSPACED.search(run):
        return [run]
    words: list[str] = []
    at = 0
    for found in _UNSPACED.finditer(run):
        words += [run[at : found.start()]] if found.start() > at else []
        letters = found[0]
        words += [letters[i : i + 2] for i in range(len(letters) - 1)] or [letters]
        at = found.end()
    return [*words, run[at:]] if at < len(run) else words
