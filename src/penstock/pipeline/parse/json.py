"""JSON: checked, kept as written but for escapes people cannot read, with a cut where each record starts."""

from __future__ import annotations

import contextlib
import json
import re

import msgspec

from penstock.pipeline.parse.cleaning import clean
from penstock.pipeline.parse.damage import Damaged
from penstock.pipeline.parse.manuscript import Manuscript

RECORD_DEPTH_MAX = 2
"""A record is an element of the outermost list or object, or of a list right inside it."""
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},\n]\s*')
_ESCAPE = re.compile(
    r"\\(?:u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))"
)


def write_json(text: str, manuscript: Manuscript, *, lenient: bool) -> None:
    """Write a JSON text, or lines of JSON; Damaged if it is neither."""
    # Cleaning mends most stray bytes, but makes ends of lines, which no string may hold, of some letters.
    raw, text = text, clean(text).strip()
    problem = _problem(text) and _problem(raw.strip())
    if problem and not lenient:
        raise Damaged(problem)
    if problem:
        manuscript.note(f"The file is not valid JSON ({problem}); it is taken as plain text.")
        manuscript.write(text)
        return
    text = clean(_ESCAPE.sub(_readable, text))
    for start in _records(text):
        manuscript.cut(start)
    manuscript.write(text)


def _problem(text: str) -> str | None:
    """What is wrong with it, checked without building anything of it."""
    first = _fault(text)
    if first is None or "\n" not in text:
        return first
    lines = [line for line in text.split("\n") if line.strip()]
    return first if any(_fault(line) for line in lines) else None


def _fault(text: str) -> str | None:
    try:
        with contextlib.suppress(msgspec.DecodeError):
            msgspec.json.decode(text.encode(), type=msgspec.Raw)
            return None
        # Slower and built in full, but it takes what Python itself writes, and says where it fails.
        json.loads(text)
    except ValueError as error:
        return str(error)[:200]
    except RecursionError:
        return "it is nested too deep"
    return None


def _readable(found: re.Match[str]) -> str:
    """The letter an escape stands for, unless it would break the JSON or is none."""
    if found[1]:
        code = 0x10000 + ((int(found[1], 16) & 0x3FF) << 10) + (int(found[2], 16) & 0x3FF)
        return chr(code)
    if not found[3]:
        return found[0]
    letter = chr(int(found[3], 16))
    return letter if letter.isprintable() and letter not in '"\\' else found[0]


def _records(text: str) -> list[int]:
    starts: list[int] = []
    depth = 0
    for token in _TOKEN.finditer(text):
        sign = text[token.start()]
        if sign in "]}":
            depth -= 1
            # Between lines of JSON there is no comma; a blank outside everything parts them.
            if depth or token.end() - token.start() == 1:
                continue
        elif sign in "[{":
            depth += 1
        elif sign == '"' or (sign == "\n" and depth):
            continue
        if depth <= RECORD_DEPTH_MAX:
            start = token.end()
            if start < len(text) and text[start] not in "]}":
                starts.append(start)
    return starts
