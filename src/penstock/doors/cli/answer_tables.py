"""Passages and sources as a terminal shows them; loaded only when there is one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from penstock.answer.words import content_words, stem
from penstock.doors.answer_shapes import CitationFacts, HitFacts
from penstock.doors.cli.output import clean

SHOWN_CHARACTERS = 500
"""How much of a passage is shown; --json gives all of it."""
_WORD = re.compile(r"[^\W_]+")


def hits(question: str, found: Sequence[HitFacts]) -> Iterator[RenderableType]:
    """Each hit: its place on a line, then its words with those of the question standing out."""
    wanted = content_words(question)
    several = len({each["collection"] for each in found}) > 1
    for each in found:
        line = Text(f"{each['rank']:>2}  ", style="dim").append(clean(each["label"]), style="bold cyan")
        if several:
            line.append(f"  {clean(each['collection'])}", style="dim")
        yield line
        text = " ".join(" ".join(span["text"] for span in each["spans"]).split())
        yield Padding(_marked(_short(text), wanted), (0, 0, 1, 4))


def sources(citations: Sequence[CitationFacts]) -> Iterator[RenderableType]:
    """The numbered sources of an answer."""
    for each in citations:
        yield Text(f"[{each['number']}] ", style="bold").append(clean(each["label"]), style="cyan")


def _short(text: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    return text[:SHOWN_CHARACTERS].rsplit(" ", 1)[0] + " …"


def _marked(text: str, wanted: frozenset[str]) -> Text:
    shown = Text(clean(text))
    for word in _WORD.finditer(shown.plain):
        if stem(word[0].casefold()) in wanted:
            shown.stylize("bold", word.start(), word.end())
    return shown
