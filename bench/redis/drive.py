"""The producer's side of one contender, in a process of its own; prints what it measured.

`drive NAME submit COUNT`, `bulk COUNT`, `pace PER_SECOND SECONDS`, `slow SECONDS`;
`argv` tells how the worker is started.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import time
from contextlib import nullcontext
from importlib import import_module
from types import ModuleType
from typing import Any

from penstock.wiring.loop import run


def contender(name: str) -> ModuleType:
    """A peer by its name, or ourselves."""
    return import_module("bench.redis." + (name if name in OURS else f"peers.{name}"))


OURS = ("ours", "booked")


async def drive(name: str, what: str, *numbers: float) -> float:
    """Rates are jobs a second, without importing and connecting."""
    module = contender(name)
    opened: Any = getattr(module, "opened", nullcontext)

    async def submit(kind: str, value: float) -> None:
        told = module.submit(kind, value)
        if inspect.isawaitable(told):
            await told

    async with opened():
        await submit(*(("noop", -1) if what in ("submit", "bulk") else ("stamp", 0)))  # connects
        begin = time.perf_counter()
        if what == "submit":
            await _submit(module, int(numbers[0]))
        elif what == "bulk":
            told = module.bulk(int(numbers[0]))
            if inspect.isawaitable(told):
                await told
        elif what == "slow":
            await submit("slow", numbers[0])
        else:
            for number in range(int(numbers[0] * numbers[1])):
                await asyncio.sleep(max(0.0, begin + number / numbers[0] - time.perf_counter()))
                await submit("stamp", time.monotonic_ns())
        return numbers[0] / (time.perf_counter() - begin)


async def _submit(module: ModuleType, count: int) -> None:
    """One after the other; a plain function is not slowed down by awaiting."""
    if inspect.iscoroutinefunction(module.submit):
        for number in range(count):
            await module.submit("noop", number)
    else:
        for number in range(count):
            module.submit("noop", number)


if __name__ == "__main__":
    if sys.argv[2] == "argv":
        print("\n".join(contender(sys.argv[1]).worker_argv()))
        sys.exit()
    print(run(drive(sys.argv[1], sys.argv[2], *map(float, sys.argv[3:]))))
