"""A recipe: how the documents of a collection are split, and by what model they are embedded."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from hashlib import sha256

from penstock.model.errors import Broken, Refused

SPLITTER = 1
"""Counts changes of the splitter that move chunks; part of a recipe's key, so old points are not mistaken."""
CHUNK_TOKENS_LEAST = 16
CHUNK_TOKENS_MOST = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides what a document's chunks and vectors are; Refused if it cannot be cooked."""

    model: str
    chunk_tokens: int = 200
    """No chunk has more tokens of its own text."""
    chunk_tokens_min: int = 24
    """A section or a rest with fewer joins its neighbour where both fit."""
    overlap_tokens: int = 0
    """Tokens of a chunk repeated at the start of the next, at most, where a passage had to be cut."""

    def __post_init__(self) -> None:
        numbers = (self.chunk_tokens, self.chunk_tokens_min, self.overlap_tokens)
        if not self.model or not all(type(number) is int for number in numbers):
            raise _wrong("a recipe names a model and counts tokens in whole numbers")
        if not CHUNK_TOKENS_LEAST <= self.chunk_tokens <= CHUNK_TOKENS_MOST:
            raise _wrong(
                f"chunk_tokens is {self.chunk_tokens}; give {CHUNK_TOKENS_LEAST} to {CHUNK_TOKENS_MOST}"
            )
        if not 0 <= self.chunk_tokens_min <= self.chunk_tokens // 2:
            raise _wrong(
                f"chunk_tokens_min is {self.chunk_tokens_min}; give 0 to {self.chunk_tokens // 2}, "
                "half of chunk_tokens"
            )
        if not 0 <= self.overlap_tokens <= self.chunk_tokens // 2:
            raise _wrong(
                f"overlap_tokens is {self.overlap_tokens}; give 0 to {self.chunk_tokens // 2}, "
                "half of chunk_tokens"
            )

    @property
    def key(self) -> str:
        """Short, and another for every recipe that makes other chunks or vectors."""
        return sha256(f"{SPLITTER}:{self.to_json()}".encode()).hexdigest()[:16]

    def to_json(self) -> str:
        """The text a collection keeps; equal recipes give equal text."""
        return json.dumps(asdict(self), sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The recipe of a kept text; Refused with what is wrong with it."""
        try:
            given = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _wrong(f"the recipe is not JSON: {error}") from error
        known = {field.name for field in fields(cls)}
        if not isinstance(given, dict) or "model" not in given or not isinstance(given["model"], str):
            raise _wrong("the recipe names no model")
        if unknown := sorted(set(given) - known):
            raise _wrong(f"the recipe has no {unknown[0]}; it has {', '.join(sorted(known))}")
        return cls(**given)


def kept_recipe(text: str, whose: str = "a collection") -> Recipe:
    """The recipe a collection keeps; Broken, with what to do, where other hands changed or removed it."""
    check_kept(text, whose)
    try:
        return _read(text)
    except Refused as wrong:
        told = f"the recipe of {whose} is damaged ({wrong.message}); to mend it: penstock fsck --repair"
        raise Broken(told) from wrong


# Every document asks for its collection's several times.
_read = lru_cache(maxsize=256)(Recipe.from_json)


def check_kept(text: str, whose: str) -> None:
    """Broken where the recipe is gone, as it is with the index it was kept in."""
    if not text:
        told = f"the index of {whose} is not there; to mend it: penstock fsck --repair"
        raise Broken(told, code="ERR_INDEX_MISSING")


def _wrong(what: str) -> Refused:
    return Refused(what, code="ERR_CONFIGURATION")
