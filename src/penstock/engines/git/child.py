"""Asking git, while the repository being asked may be anybody's.

A repository's own configuration can name programs to run: a file system monitor, hooks, a pager, an ssh.
Each is switched off by name, nobody's configuration but the repository's is read, nothing is fetched, and
the child gets neither our environment nor our terminal.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from penstock.model.errors import Refused, Unavailable

OUTPUT_BYTES_MAX = 256 << 20
_TOLD_BYTES_MAX = 2000

_SWITCHED_OFF = (
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.hooksPath=/dev/null",
    "core.excludesFile=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "protocol.allow=never",
    # Reading is all we do, and nothing it configures is run; so it need not be ours.
    "safe.directory=*",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What git said and how it ended."""

    code: int
    output: bytes
    complaint: str


async def ask(git: str, root: Path, *words: str, timeout: float) -> Answer:
    """Run one git command about the folder; its answer, or Unavailable when time is up."""
    switches = [part for setting in _SWITCHED_OFF for part in ("-c", setting)]
    command = [git, "--no-pager", "--no-optional-locks", "--literal-pathspecs", *switches, *words]
    try:
        child = await asyncio.create_subprocess_exec(
            *command,
            cwd=root,
            env=_environment(git),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"{git} cannot be run in {root} ({error.strerror})") from error
    try:
        async with asyncio.timeout(timeout):
            output, complaint = await asyncio.gather(_read(child.stdout), _read(child.stderr))
            code = await child.wait()
    except TimeoutError:
        raise Unavailable(
            f"git took longer than {timeout:g} seconds about {root}", code="ERR_TIMEOUT"
        ) from None
    finally:
        await _end(child)
    told = complaint[:_TOLD_BYTES_MAX].decode(errors="backslashreplace").strip()
    return Answer(code=code, output=output, complaint=told)


def _environment(git: str) -> dict[str, str]:
    return {
        "PATH": f"{os.path.dirname(git)}{os.pathsep}{os.defpath}",
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        # An older git knows no such switch, and a repository may allow a protocol by name: none is allowed.
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "GIT_PROTOCOL_FROM_USER": "0",
    }


async def _read(stream: asyncio.StreamReader | None) -> bytes:
    pieces, size = [], 0
    while stream is not None and (piece := await stream.read(1 << 16)):
        size += len(piece)
        if size > OUTPUT_BYTES_MAX:
            raise Refused("git tells more than can be held", code="ERR_FOLDER_TOO_LARGE")
        pieces.append(piece)
    return b"".join(pieces)


async def _end(child: asyncio.subprocess.Process) -> None:
    """Whatever it started goes with it."""
    if child.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        await child.wait()
