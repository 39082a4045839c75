"""A process that dies by SIGKILL exactly before or after a call of a script on Redis.

`python -m tests.chaos.doomed_scripts FATE`. The one method by which every script is run is the seam: when the
n-th call of the named script comes by, the process is dead before it was sent, or right after its answer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.engines.redis.client import Client
from penstock.engines.redis.scripts import Script
from penstock.model.jobs import JobId
from penstock.settings import load
from penstock.wiring.store import open_store
from tests.chaos.effects import EFFECTS
from tests.support.doomed import work
from tests.support.jobs import a_note


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptDoom:
    """Where to die; `submit` stands for `submit_new` and `submit_one` too, short ways to the same end."""

    script: str
    after: bool = False
    nth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """What the process is asked to do until then."""

    role: str = "worker"
    doom: ScriptDoom | None = None
    job: str = ""
    handlers: str = EFFECTS


def doom_scripts(doom: ScriptDoom) -> None:
    """Every client of Redis in this process is doomed from now on."""
    run = Client.run
    left = doom.nth

    async def doomed(self: Client, script: Script, **named: Any) -> Any:
        nonlocal left
        # A call from another loop comes by twice: here, and at that loop's own client.
        meant = script.name.partition("_")[0] == doom.script and self._here() is self
        left -= meant
        now = meant and left == 0
        if now and not doom.after:
            os.kill(os.getpid(), signal.SIGKILL)
        answer = await run(self, script, **named)
        if now:
            os.kill(os.getpid(), signal.SIGKILL)
        return answer

    Client.run = doomed  # type: ignore[method-assign]  # the method is the seam


async def _submit(job: str) -> None:
    async with open_store(load(None, os.environ, {})) as store:
        await store.queue.submit([a_note(f"note {job}", id=JobId(job))])


async def _cancel(job: str) -> None:
    async with open_store(load(None, os.environ, {})) as store:
        await store.desk.cancel([JobId(job)])


def main() -> None:
    fate = msgspec.json.decode(sys.argv[1], type=Fate)
    if fate.doom is not None:
        doom_scripts(fate.doom)
    match fate.role:
        case "worker":
            asyncio.run(work(load(None, os.environ, {}), fate.handlers))
        case "submit":
            asyncio.run(_submit(fate.job))
        case "cancel":
            asyncio.run(_cancel(fate.job))
        case _:
            raise ValueError(f"no such role: {fate.role}")


if __name__ == "__main__":
    main()
