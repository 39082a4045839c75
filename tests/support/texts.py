"""Texts for splitting: ordinary ones with structure, and hostile ones."""

from __future__ import annotations

import random

from penstock.model.parsed import Heading, Media, Page, Parsed

WORDS = ("water", "pipe", "gate", "valve", "river", "turbine", "pressure", "flow", "meter", "dam", "spill")


def sentence(draw: random.Random) -> str:
    return " ".join(draw.choices(WORDS, k=draw.randint(4, 18))).capitalize() + "."


def paragraph(draw: random.Random) -> str:
    return " ".join(sentence(draw) for _ in range(draw.randint(2, 6)))


def handbook(seed: int, sections: int, paragraphs: int = 4) -> Parsed:
    """A Markdown handbook: chapters of sections, every heading and page recorded at its offset."""
    draw = random.Random(seed)
    text, headings = "", list[Heading]()
    for number in range(sections):
        level = 1 if number % 4 == 0 else 2
        title = f"{'Chapter' if level == 1 else 'Section'} {number}"
        headings.append(Heading(level=level, title=title, start=len(text)))
        text += f"{'#' * level} {title}\n\n"
        text += "".join(f"{paragraph(draw)}\n\n" for _ in range(paragraphs))
    return Parsed(text=text, media=Media.MARKDOWN, headings=tuple(headings), pages=pages(text, 1500))


def pages(text: str, length: int) -> tuple[Page, ...]:
    """Pages of equal length over a whole text."""
    starts = range(0, max(1, len(text)), length)
    return tuple(
        Page(number=number, start=start, end=min(len(text), start + length))
        for number, start in enumerate(starts, 1)
    )


HOSTILE = {
    "one line": "word " * 30000,
    "one letter": "a" * 150000,
    "white space": " " * 150000,
    "newlines": "\n" * 150000,
    "a hole": f"left{' ' * 150000}right",
    "no spaces": "penstock" * 15000,
    "long words": ("q" * 150 + " ") * 700,
    "Chinese": "\u6c34\u529b\u767c\u96fb" * 7000,
    "Thai": "\u0e01\u0e33\u0e41\u0e1e" * 15000,
    "families": "\U0001f468\u200d\U0001f469\u200d\U0001f467" * 6000,
    "flags": "\U0001f1e9\U0001f1ea" * 15000,
    "marks alone": "\u0301" * 50000,
    "marked letters": "e\u0301" * 30000,
    "keycaps": "#\ufe0f\u20e3" * 6000,
    "dots": "." * 30000,
    "invisible": "\u200b" * 50000,
    "sentences of one letter": "A. " * 15000,
    "special tokens": "[SEP] [CLS] " * 2500,
}
