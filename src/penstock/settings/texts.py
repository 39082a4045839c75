"""Kinds of single values that are text: lines, words, patterns, paths and passwords."""

import re
from dataclasses import dataclass
from pathlib import Path

from penstock.settings.kinds import Kind, plain_text, quoted
from penstock.settings.masking import MASK, Secret
from penstock.settings.problems import Unfit


@dataclass(frozen=True)
class Text(Kind[str]):
    """One line of text that is not empty."""

    words: str = "a line of text"

    def read(self, raw: object) -> str:
        text = plain_text(raw)
        if not text.strip() or not text.isprintable() or len(text) > 1024:
            raise Unfit(f"{quoted(raw)} is empty, longer than 1024 characters or not one line")
        return text


@dataclass(frozen=True)
class Choice(Kind[str]):
    """One word of a few, in any case; an alias is read as the word it stands for."""

    choices: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...] = ()

    @property
    def words(self) -> str:
        return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"

    def read(self, raw: object) -> str:
        word = plain_text(raw).lower()
        word = dict(self.aliases).get(word, word)
        if word not in self.choices:
            raise Unfit(f"{quoted(raw)} is not one of the choices")
        return word


class Pattern(Kind[str]):
    """A pattern for one name: exactly one %s, and no other percent sign."""

    words = "a line of text with exactly one %s, where the worker's id goes, and no other percent sign"

    def read(self, raw: object) -> str:
        text = Text().read(raw)
        if text.count("%s") != 1 or text.count("%") != 1:
            raise Unfit(f"{quoted(raw)} has no %s, more than one, or another percent sign")
        return text


class Extension(Kind[str]):
    """A file name's ending, kept in lower case with its dot."""

    words = "a file ending such as .pdf"

    def read(self, raw: object) -> str:
        ending = plain_text(raw).lower().removeprefix(".")
        if not re.fullmatch(r"[\w+-]+(\.[\w+-]+)*", ending):
            raise Unfit(f"{quoted(raw)} is not a file ending")
        return f".{ending}"


class Folder(Kind[Path]):
    """A folder's path, relative to where the program was started; it need not exist yet."""

    words = "the path of a folder"

    def read(self, raw: object) -> Path:
        if isinstance(raw, Path):
            return raw
        return Path(Text().read(raw))

    def show(self, value: Path) -> str:
        return str(value)


class Password(Kind[Secret]):
    """A secret; its text is quoted nowhere, not even when it is refused."""

    words = "text, kept secret"

    def read(self, raw: object) -> Secret:
        if not isinstance(raw, str):
            raise Unfit("the value is not text")
        return Secret(str(raw))

    def show(self, value: Secret) -> str:
        return MASK
