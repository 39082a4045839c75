"""A folder of made-up documents: the same bytes for the same count, wherever and whenever it is made."""

from __future__ import annotations

import random
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tests.support.files.packages import docx, paragraph
from tests.support.files.pdf import simple_pdf

_SUBJECTS = (
    "the intake gate", "a surge tank", "the second turbine", "the night shift", "our pressure record",
    "the spillway survey", "an inspector of the valley board", "the guide bearing", "the forebay screen",
    "the runner of unit three", "each valve on the lower line", "the maintenance contract",
)  # fmt: skip
_VERBS = (
    "shows", "requires", "replaced", "explains", "limits", "followed", "confirms", "has delayed",
    "measures", "protects", "reported", "will need",
)  # fmt: skip
_OBJECTS = (
    "a steady flow through the winter months", "new gaskets on the flange", "less vibration than expected",
    "the reading of the upper gauge", "a careful restart after the storm", "twelve millimetres of settlement",
    "the budget of the coming year", "the oil that was drained in March", "an alarm nobody had acknowledged",
    "the agreed release to the river", "corrosion below the waterline", "two hours of lost generation",
)  # fmt: skip
_ENDS = (
    "", " before the spring flood", " as the manual says", " although the sensor disagrees", " at low head",
    " for the third time this season", " without stopping the plant", " once the silt has settled",
)  # fmt: skip
_TOPICS = ("Inspection", "Flow", "Repairs", "Safety", "Costs", "Measurements", "History", "Outlook")
_KINDS = ("md", "txt", "html", "md", "html", "txt")
PDF_EVERY = 40
DOCX_EVERY = 40
LINE_CHARACTERS = 85
PAGE_LINES = 45


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and its paragraphs."""

    title: str
    paragraphs: tuple[str, ...]


def make(folder: Path, count: int, *, seed: int = 1) -> int:
    """Write so many documents, some folders deep; how many bytes they have."""
    size = 0
    for number in range(count):
        draw = random.Random(seed * 1_000_003 + number)
        title = f"{draw.choice(_TOPICS)} report {seed}-{number}"
        kind = _kind(number)
        data = _WRITERS[kind](title, _sections(draw, number))
        path = folder / f"part-{number % 7}" / f"report-{number:05d}.{kind}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        size += len(data)
    return size


def _kind(number: int) -> str:
    if number % PDF_EVERY == PDF_EVERY - 1:
        return "pdf"
    if number % DOCX_EVERY == DOCX_EVERY // 2 - 1:
        return "docx"
    return _KINDS[number % len(_KINDS)]


def _sections(draw: random.Random, number: int) -> list[Section]:
    """Most documents are short, some long, as in life."""
    count = max(1, min(12, round(draw.lognormvariate(1.0, 0.6))))
    return [
        Section(
            title=f"{draw.choice(_TOPICS)} {place + 1}",
            paragraphs=tuple(_paragraph(draw, number) for _ in range(draw.randint(2, 4))),
        )
        for place in range(count)
    ]


def _paragraph(draw: random.Random, number: int) -> str:
    return " ".join(_sentence(draw, number) for _ in range(draw.randint(3, 7)))


def _sentence(draw: random.Random, number: int) -> str:
    subject, object_ = draw.choice(_SUBJECTS), draw.choice(_OBJECTS)
    told = f"{subject} {draw.choice(_VERBS)} {object_}{draw.choice(_ENDS)}"
    if draw.random() < 0.3:
        told += f", as note {number}/{draw.randint(1, 9999)} says"
    return f"{told[0].upper()}{told[1:]}."


def _markdown(title: str, sections: list[Section]) -> bytes:
    parts = [f"# {title}"]
    for section in sections:
        parts += [f"## {section.title}", *section.paragraphs]
    return ("\n\n".join(parts) + "\n").encode()


def _text(title: str, sections: list[Section]) -> bytes:
    parts = [title]
    for section in sections:
        parts += [section.title, *section.paragraphs]
    return ("\n\n".join(parts) + "\n").encode()


def _html(title: str, sections: list[Section]) -> bytes:
    body = "".join(
        f"<h2>{escape(section.title)}</h2>"
        + "".join(f"<p>{escape(text)}</p>\n" for text in section.paragraphs)
        for section in sections
    )
    head = f"<!doctype html><html><head><meta charset='utf-8'><title>{escape(title)}</title></head>"
    return f"{head}<body><h1>{escape(title)}</h1>{body}</body></html>".encode()


def _docx(title: str, sections: list[Section]) -> bytes:
    body = paragraph(title, style="Heading1")
    for section in sections:
        body += paragraph(section.title, style="Kapitel") + "".join(map(paragraph, section.paragraphs))
    return docx(body)


def _pdf(title: str, sections: list[Section]) -> bytes:
    lines = [title, ""]
    for section in sections:
        lines += [section.title, ""]
        for text in section.paragraphs:
            lines += [*_wrapped(text), ""]
    return simple_pdf([lines[at : at + PAGE_LINES] for at in range(0, len(lines), PAGE_LINES)])


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) >= LINE_CHARACTERS:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


_WRITERS = {"md": _markdown, "txt": _text, "html": _html, "docx": _docx, "pdf": _pdf}
