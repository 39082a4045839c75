"""Lua by the name of its file: one script each, read once, known to the server by the digest of its text.

What several scripts do alike stands in `scripts/parts/` and is taken in by a line `-- include: NAME`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

from penstock.engines.redis.protocol import Word, begun

_INCLUDE = re.compile(r"^-- include: (\w+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A script as the server gets it."""

    name: str
    text: bytes
    digest: bytes
    """By which the server knows it once it has seen it."""

    @classmethod
    def of(cls, name: str, text: str) -> Script:
        """A script of this text."""
        body = text.encode()
        # Redis itself names scripts so; nothing rests on its strength.
        digest = hashlib.sha1(body, usedforsecurity=False).hexdigest().encode()
        return cls(name=name, text=body, digest=digest)


class Asked:
    """A script asked for often: on the same keys, with the same first arguments, and so many more."""

    def __init__(self, script: Script, keys: Sequence[Word], args: Sequence[Word], more: int) -> None:
        self.script = script
        self.keys = keys
        self.args = args
        self.begun = begun(("EVALSHA", script.digest, len(keys), *keys, *args), more)


class Scripts(Mapping[str, Script]):
    """Every script of a folder, read when it is first asked for."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._read: dict[str, Script] = {}

    def __getitem__(self, name: str) -> Script:
        found = self._read.get(name)
        if found is None:
            found = self._read[name] = Script.of(name, self._text(f"{name}.lua"))
        return found

    def __iter__(self) -> Iterator[str]:
        names = [path.name for path in self._folder.iterdir()] if self._folder.is_dir() else []
        return iter(sorted(name.removesuffix(".lua") for name in names if name.endswith(".lua")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _text(self, name: str, *inside: str) -> str:
        if name in inside:
            raise ValueError(f"{name} includes itself")
        try:
            text = self._folder.joinpath(*name.split("/")).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise KeyError(name) from None
        return _INCLUDE.sub(lambda found: self._text(f"parts/{found[1]}.lua", name, *inside), text)


SCRIPTS = Scripts(files(__package__).joinpath("scripts"))
"""The scripts of the queue."""
