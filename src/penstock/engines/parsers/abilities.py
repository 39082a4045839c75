"""What this machine offers to shut a parser in, asked of the kernel and not guessed from its version."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.engines.parsers.landlock import landlock_version
from penstock.engines.parsers.seccomp import seccomp_offered


@dataclass(frozen=True, slots=True, kw_only=True)
class Abilities:
    """How well a parser can be shut in here."""

    landlock: int
    """The version of the kernel's shield around paths; 0 for none."""
    seccomp: bool
    """Whether system calls are filtered."""

    @property
    def strict(self) -> bool:
        """Whether no file and no network can be reached from inside."""
        return self.landlock > 0 and self.seccomp

    @property
    def words(self) -> str:
        """The same for people."""
        paths = f"Landlock {self.landlock}" if self.landlock else "no Landlock"
        calls = "seccomp" if self.seccomp else "no seccomp"
        return f"{paths}, {calls}, limits of memory, files and processes"


def abilities() -> Abilities:
    """What the kernel offers now."""
    return Abilities(landlock=landlock_version(), seccomp=seccomp_offered())
