"""The parser's keys: how many child processes read files, and what one document may cost."""

from dataclasses import dataclass

from penstock.settings.fields import setting
from penstock.settings.numbers import Duration, Size, Whole
from penstock.settings.problems import Unfit
from penstock.settings.texts import Choice


@dataclass(frozen=True)
class Memory(Size):
    """A number of bytes in which a child can still start."""

    least: int = 128 << 20

    @property
    def words(self) -> str:
        return f"a size such as 512MiB or 1GiB, from {self.show(self.least)} to {self.show(self.most)}"

    def read(self, raw: object) -> int:
        value = super().read(raw)
        if value < self.least:
            raise Unfit(f"{self.show(value)} is too little for a parser to start in")
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Parser:
    """How files are read: in child processes, within limits."""

    children: int = setting(
        Whole(0, 256),
        0,
        "Files one worker process reads at once, each in a child, and two more while they are quick; "
        "0 is one for every core.",
    )
    documents: int = setting(
        Whole(1, 1_000_000), 500, "Files a child reads before a fresh one takes its place."
    )
    timeout: float = setting(
        Duration(), "1m", "Longest time one file may take, not counting what its child waits for a processor."
    )
    memory: int = setting(Memory(64 << 30), "1GiB", "Memory one child may use.")
    text_bytes: int = setting(Size(1 << 30), "64MiB", "Bytes of text one file may hold.")
    pages: int = setting(Whole(1, 1_000_000), 20_000, "Pages, slides, sheets or chapters of one file.")
    unpacked_bytes: int = setting(Size(16 << 30), "1GiB", "Bytes one packed file may unpack to.")
    sandbox: str = setting(
        Choice(("available", "strict")),
        "available",
        "available shuts a child in as well as the kernel can; "
        "strict reads nothing unless files and network are out of its reach.",
    )
