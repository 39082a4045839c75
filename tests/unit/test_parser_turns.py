"""Whose turn it is to read: seats, the express, who comes first, and that no turn is ever lost."""

from __future__ import annotations

import asyncio
import random

from penstock.engines.parsers.turns import Turn, Turns


async def waiting(turns: Turns, *, overdue: bool = False) -> asyncio.Task[Turn]:
    """Somebody who asks for a turn, and has it if there is one."""
    task = asyncio.create_task(turns.take_seat() if overdue else turns.take())
    for _ in range(3):
        await asyncio.sleep(0)
    return task


async def test_seats_are_taken_before_the_express() -> None:
    """Whoever comes while a seat is free may stay as long as he needs."""
    turns = Turns(2)

    taken = [await waiting(turns) for _ in range(4)]

    assert [task.done() and task.result().express for task in taken[:3]] == [False, False, True]
    assert not taken[3].done()


async def test_who_outstayed_the_express_comes_before_who_has_not_begun() -> None:
    """The next seat is his; the others have the express."""
    turns = Turns(1)
    seat, express = [await (await waiting(turns)) for _ in range(2)]
    fresh, overdue = await waiting(turns), await waiting(turns, overdue=True)

    turns.release(seat)
    first = await overdue
    assert not fresh.done()
    turns.release(express)

    assert (first.express, (await fresh).express) == (False, True)


async def test_the_express_is_wanted_only_while_somebody_waits_for_it() -> None:
    """Whoever gives up waiting, or gets a seat, wants it no more."""
    turns = Turns(1)
    seat, express = [await (await waiting(turns)) for _ in range(2)]
    before = express.wanted.is_set()
    impatient = await waiting(turns)
    meanwhile = express.wanted.is_set()
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    given_up = express.wanted.is_set()
    patient = await waiting(turns)
    turns.release(seat)
    await patient

    assert (before, meanwhile, given_up, express.wanted.is_set()) == (False, True, False, False)


async def test_no_turn_is_lost_whoever_gives_up_whenever() -> None:
    """Cancelled in the very moment a turn was given, it passes the turn on: at the end all are free again."""
    drawn = random.Random(7)
    turns = Turns(3)

    async def read(*, overdue: bool) -> None:
        turn = await (turns.take_seat() if overdue else turns.take())
        try:
            for _ in range(drawn.randrange(4)):
                await asyncio.sleep(0)
        finally:
            turns.release(turn)

    for _ in range(200):
        tasks = [asyncio.create_task(read(overdue=drawn.random() < 0.3)) for _ in range(12)]
        for _ in range(drawn.randrange(8)):
            await asyncio.sleep(0)
            drawn.choice(tasks).cancel()
        async with asyncio.timeout(10):
            await asyncio.gather(*tasks, return_exceptions=True)

    free = [await waiting(turns) for _ in range(5)]
    assert [task.done() for task in free] == [True, True, True, True, False]
    free[-1].cancel()
