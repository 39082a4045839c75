"""Markdown: kept as written, with its headings found.

A full parser takes seconds for a megabyte and is needed for nothing else, so lines are looked at one by one:
fences, indented code, front matter and comments hide headings, `#` and underlines make them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.pipeline.parse.cleaning import clean
from penstock.pipeline.parse.manuscript import TITLE_CHARS_MAX, Manuscript

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HASHES = re.compile(r" {0,3}(#{1,6})(?:[ \t]+|$)")
_UNDERLINE = re.compile(r" {0,3}(?:(=+)|(-+))[ \t]*$")
_NOT_A_PARAGRAPH = re.compile(r" {0,3}(?:[#>|]|[-*+][ \t]|\d{1,9}[.)][ \t]|`{3}|~{3}|<)|\t| {4}")
_TITLE_KEY = re.compile(r"^title:[ \t]*(.{1,300})", re.IGNORECASE | re.MULTILINE)
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]{0,300})\](?:\([^()]{0,2000}\)|\[[^\[\]]{0,300}\])")
_EMPHASIS = re.compile(r"(\*{1,3}|_{2,3}|~~|`{1,3})(?=\S)(.{1,300}?)(?<=\S)\1")
_LINE_MAX = 2000
"""A longer line is no heading anyone wrote."""
_MARKS_MAX = 20


def write_markdown(text: str, manuscript: Manuscript) -> None:
    """Write Markdown as it stands and mark its headings."""
    text = clean(text).strip("\n")
    manuscript.title, start = _front_matter(text)
    places = list(_headings(text, start))
    written = 0
    for at, level, title in places:
        manuscript.write(text[written:at])
        written = at
        manuscript.mark(level, title)
        if manuscript.title is None and level == 1:
            manuscript.title = title
    manuscript.write(text[written:])


def plain_words(title: str) -> str:
    """A heading without the marks of links and emphasis."""
    # Unpaired marks cost the cube of their number, so they are looked for only in what is kept of a title.
    title = _IMAGE_OR_LINK.sub(r"\1", title[:_LINE_MAX])[: TITLE_CHARS_MAX + _MARKS_MAX]
    for _ in range(3):
        title = _EMPHASIS.sub(r"\2", title)
    return title.strip()


def _front_matter(text: str) -> tuple[str | None, int]:
    """The title in the front matter and where the text behind it starts."""
    if not text.startswith("---\n"):
        return None, 0
    end = text.find("\n---", 3)
    if end < 0:
        return None, 0
    found = _TITLE_KEY.search(text, 0, end)
    title = found[1].strip().strip("\"'") if found else None
    line_end = text.find("\n", end + 1)
    return title, len(text) if line_end < 0 else line_end + 1


def _headings(text: str, start: int) -> Iterator[tuple[int, int, str]]:
    """Where each heading starts, its level and its words."""
    fence = ""
    comment = False
    paragraph: int | None = None
    paragraph_end = start
    for at, line in _lines(text, start):
        if comment:
            comment = "-->" not in line
            continue
        opened = _fence(line)
        if fence:
            if opened.startswith(fence) and not line.strip(" \t" + fence[0]):
                fence = ""
            continue
        if opened:
            fence, paragraph = opened, None
            continue
        if line.lstrip(" ").startswith("<!--"):
            comment, paragraph = "-->" not in line, None
            continue
        hashes = _HASHES.match(line)
        if hashes and len(line) <= _LINE_MAX:
            paragraph = None
            yield at, len(hashes[1]), plain_words(_unclosed(line[hashes.end() :]))
            continue
        under = _UNDERLINE.match(line)
        if under and paragraph is not None:
            if paragraph_end - paragraph <= _LINE_MAX:
                yield paragraph, 1 if under[1] else 2, plain_words(text[paragraph:paragraph_end].strip())
            paragraph = None
            continue
        if not line.strip() or (paragraph is None and _NOT_A_PARAGRAPH.match(line)):
            paragraph = None
            continue
        paragraph = at if paragraph is None else paragraph
        paragraph_end = at + len(line)


def _unclosed(words: str) -> str:
    """A heading without the marks that close it; those that touch a word, as in C#, are part of it."""
    words = words.rstrip(" \t")
    bare = words.rstrip("#")
    return bare if not bare or bare[-1] in " \t" else words


def _fence(line: str) -> str:
    """The marks of a fence at the start of a line; backticks with more of them behind are code in a line."""
    found = _FENCE.match(line)
    if not found or (found[1][0] == "`" and "`" in line[found.end() :]):
        return ""
    return found[1]


def _lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end]
        start = end + 1
