"""Two public test collections, read from where they lie; they are not part of the project.

`BENCH_DATA` names the folder that holds `scifact/` and `cranfield/`; without it, `shared/data`
beside the project is looked at.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

VARIABLE = "BENCH_DATA"
DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
RELEVANT = {"1", "2", "3", "4"}
"""Cranfield's codes that count as relevant; 5 and -1 do not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    """A document: its title and its abstract."""

    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Documents, questions, and which documents answer which question."""

    name: str
    papers: Mapping[str, Paper]
    questions: Mapping[str, str]
    relevant: Mapping[str, frozenset[str]]


def folder() -> Path:
    """Where the data lies; ends the program with what to do if it does not."""
    named = os.environ.get(VARIABLE)
    place = Path(named) if named else DEFAULT
    wanted = [place / "scifact" / "corpus.jsonl", place / "cranfield" / "cran.all.1400.xml"]
    missing = [str(path) for path in wanted if not path.is_file()]
    if missing:
        sys.exit(
            f"bench: no test collections at {place} (missing: {', '.join(missing)}); "
            f"set {VARIABLE} to the folder that holds scifact/ and cranfield/"
        )
    return place


def scifact(place: Path) -> Corpus:
    """5,183 abstracts and 300 claims, in the layout of BEIR."""
    papers, claims = {}, {}
    with (place / "scifact" / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            found = json.loads(line)
            papers[found["_id"]] = Paper(title=found["title"], text=found["text"])
    with (place / "scifact" / "queries.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            found = json.loads(line)
            claims[found["_id"]] = found["text"]
    relevant: dict[str, set[str]] = {}
    judged = (place / "scifact" / "qrels" / "test.tsv").read_text(encoding="utf-8").splitlines()[1:]
    for question, document, score in (line.split() for line in judged):
        if int(score) > 0:
            relevant.setdefault(question, set()).add(document)
    return _corpus("SciFact", papers, {key: claims[key] for key in relevant}, relevant)


def cranfield(place: Path) -> Corpus:
    """1,400 abstracts and 225 questions; questions are judged by their place in the file."""
    text = (place / "cranfield" / "cran.all.1400.xml").read_text(encoding="utf-8")
    papers = {}
    for entry in re.findall(r"<doc>(.*?)</doc>", text, re.DOTALL):
        papers[_field(entry, "docno")] = Paper(title=_field(entry, "title"), text=_field(entry, "text"))
    asked = (place / "cranfield" / "cran.qry.xml").read_text(encoding="utf-8")
    questions = {
        str(number): " ".join(words.split())
        for number, words in enumerate(re.findall(r"<title>(.*?)</title>", asked, re.DOTALL), start=1)
    }
    relevant: dict[str, set[str]] = {}
    judged = (place / "cranfield" / "cranqrel.trec.txt").read_text(encoding="utf-8").splitlines()
    for question, _, document, code in (line.split() for line in judged):
        if code in RELEVANT:
            relevant.setdefault(question, set()).add(document)
    return _corpus("Cranfield", papers, {key: questions[key] for key in relevant}, relevant)


def _corpus(
    name: str, papers: dict[str, Paper], questions: dict[str, str], relevant: dict[str, set[str]]
) -> Corpus:
    return Corpus(
        name=name,
        papers=papers,
        questions=questions,
        relevant={key: frozenset(found) for key, found in relevant.items()},
    )


def _field(entry: str, name: str) -> str:
    found = re.search(rf"<{name}>(.*?)</{name}>", entry, re.DOTALL)
    return " ".join(found[1].split()) if found else ""
