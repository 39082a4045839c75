"""The program in the test's own process: the same words in and out, in a tenth of the time."""

from __future__ import annotations

import io
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from penstock.doors.cli.program import run
from tests.support.command_line import Program, Ran


@contextmanager
def logging_kept() -> Iterator[None]:
    """A command sets up the logs of its process; here that process goes on as something else."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:], root.level = handlers, level


@contextmanager
def environment(wanted: Mapping[str, str]) -> Iterator[None]:
    """Exactly these variables, for a while."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(wanted)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_near(words: Sequence[str]) -> Ran:
    """A short command without stdin, run in this process, which takes a tenth of the time."""
    out, err = io.StringIO(), io.StringIO()
    with logging_kept(), redirect_stdout(out), redirect_stderr(err):
        code = run(words)
    return Ran(code=code, out=out.getvalue(), err=err.getvalue())


class NearProgram(Program):
    """`penstock` on one data folder, for short commands without stdin."""

    config: Path | None = None

    def always(self) -> list[str]:
        """What every command is told."""
        chosen = [] if self.config is None else ["--config", str(self.config)]
        return [*chosen, "--data", str(self.data)]

    def __call__(
        self, *words: str | Path, stdin: str | bytes = b"", env: Mapping[str, str] | None = None
    ) -> Ran:
        """Run it in this process; real ones are the other tests' affair."""
        assert not stdin
        assert not env
        return run_near([*map(str, words), *self.always()])
