"""Whose turn it is to read: seats, the short ways, who comes first, and that no turn is ever lost."""

from __future__ import annotations

import asyncio
import random

from penstock.engines.parsers.turns import Lane, Turn, Turns

EXPRESS, SHORT, SEAT = Lane
PATIENCE = 30.0


def idle() -> float:
    """The pace of a child that has no processor."""
    return 0.0


async def waiting(turns: Turns, lane: Lane = EXPRESS) -> asyncio.Task[Turn]:
    """Somebody who asks for a turn, and has it if there is one."""
    task = asyncio.create_task(turns.take(lane))
    for _ in range(3):
        await asyncio.sleep(0)
    return task


async def test_seats_are_taken_before_the_express() -> None:
    """Whoever comes while a seat is free may stay as long as he needs; who was tried has the short stay."""
    turns = Turns(2)

    taken = [await waiting(turns) for _ in range(4)]
    tried = await waiting(turns, SHORT)

    assert [task.done() and task.result().lane for task in taken] == [SEAT, SEAT, EXPRESS, False]
    assert (await tried).lane is SHORT
    taken[3].cancel()


async def test_what_is_free_is_had_without_waiting() -> None:
    """A seat before the lane that is asked for, and neither where somebody waits for anything."""
    turns = Turns(1)
    had = [turn and turn.lane for turn in (turns.take_free(lane) for lane in (EXPRESS, EXPRESS, EXPRESS))]
    waits = await waiting(turns)

    assert had == [SEAT, EXPRESS, None]
    assert turns.take_free(SHORT) is None
    waits.cancel()


async def test_a_free_seat_goes_to_who_was_put_off_the_most() -> None:
    """Each behind those who were put off before, and nobody who has not begun comes before them."""
    turns = Turns(1)
    seat, express, short = await turns.take(), await turns.take(), await turns.take(SHORT)
    fresh, once, twice = [await waiting(turns, lane) for lane in (EXPRESS, SHORT, SEAT)]

    turns.release(seat)
    first = await twice
    done = [fresh.done(), once.done()]
    turns.release(first)
    second = await once
    turns.release(short)
    turns.release(express)

    assert done == [False, False]
    assert (first.lane, second.lane, (await fresh).lane) == (SEAT, SEAT, EXPRESS)


async def test_a_place_is_wanted_only_while_somebody_waits_for_it() -> None:
    """Whoever gives up waiting, or gets a seat, wants it no more; who waits for another place never did."""
    turns = Turns(1)
    seat, express, short = await turns.take(), await turns.take(), await turns.take(SHORT)
    elsewhere = await waiting(turns, SHORT)
    before = express.wanted.is_set()
    impatient = await waiting(turns)
    meanwhile = express.wanted.is_set()
    impatient.cancel()
    await asyncio.gather(impatient, return_exceptions=True)
    given_up = express.wanted.is_set()
    turns.release(seat)
    seat = await elsewhere
    patient = await waiting(turns)
    turns.release(seat)
    await patient

    assert (before, meanwhile, given_up, express.wanted.is_set()) == (False, True, False, False)
    assert not short.wanted.is_set()
    assert not seat.wanted.is_set()


async def test_it_is_jammed_once_all_other_places_were_held_for_long() -> None:
    """A place that is free, or whose file no child has yet, may soon have room; who was put off is slow."""
    turns = Turns(1)
    seat = await turns.take()
    seat.begin(idle)
    free = turns.are_jammed(0.0)
    await turns.take(SHORT)
    taken = turns.are_jammed(0.0)

    assert (free, taken, turns.are_jammed(60.0)) == (False, True, False)
    turns.release(seat)
    await turns.take()
    assert not turns.are_jammed(0.001)


async def test_who_is_held_back_waits_beside_a_free_place() -> None:
    """Others go ahead of him; he has his turn by himself once he may, and wants no place before."""
    large = True
    turns = Turns(1, lambda size: large and size > 10)
    await turns.take()
    held = asyncio.create_task(turns.take(EXPRESS, 11))
    await asyncio.sleep(0)
    assert turns.take_free(EXPRESS, 11) is None
    express = await turns.take(EXPRESS, 10)
    wanted = express.wanted.is_set()
    turns.release(express)
    waits = not held.done()
    large = False

    async with asyncio.timeout(PATIENCE):
        assert (await held).lane is EXPRESS
    assert (wanted, waits) == (False, True)


async def test_the_smallest_has_at_least_every_other_turn() -> None:
    """Though turns are so rare that who waits longest is always due."""
    turns = Turns(1)
    turns.longest_waiting_seconds = 0.0
    await turns.take()
    express = await turns.take()
    order: list[int] = []

    async def read(size: int) -> None:
        turn = await turns.take(EXPRESS, size)
        order.append(size)
        await asyncio.sleep(0)
        turns.release(turn)

    reading = [asyncio.create_task(read(size)) for size in (9, 8, 7, 3, 2, 1)]
    await asyncio.sleep(0)
    turns.release(express)
    await asyncio.gather(*reading)

    assert order == [9, 1, 8, 2, 7, 3]


async def test_who_moves_on_leaves_no_one_behind_who_waits_for_the_same() -> None:
    """A longer turn is had at once only where nobody was put off to wait for one."""
    turns = Turns(1)
    seat, express = await turns.take(), await turns.take()
    further = turns.take_further(express)
    none_left = turns.take_further(express)
    waits = await waiting(turns, SHORT)
    assert further is not None
    turns.release(further)
    taken = await waits
    turns.release(seat)

    assert (further.lane, none_left, taken.lane) == (SHORT, None, SHORT)
    on = turns.take_further(express)
    assert on is not None
    assert on.lane is SEAT


async def test_no_turn_is_lost_whoever_gives_up_whenever() -> None:
    """Cancelled in the very moment a turn was given, it passes the turn on: at the end all are free again."""
    drawn = random.Random(7)
    turns = Turns(3)

    async def read(lane: Lane) -> None:
        turn = await turns.take(lane)
        try:
            for _ in range(drawn.randrange(4)):
                await asyncio.sleep(0)
        finally:
            turns.release(turn)

    for _ in range(200):
        tasks = [asyncio.create_task(read(drawn.choice(list(Lane)))) for _ in range(12)]
        for _ in range(drawn.randrange(8)):
            await asyncio.sleep(0)
            drawn.choice(tasks).cancel()
        async with asyncio.timeout(30):
            await asyncio.gather(*tasks, return_exceptions=True)

    free = [await waiting(turns, lane) for lane in (*[SEAT] * 4, *[SHORT] * 2, *[EXPRESS] * 2)]
    assert [task.done() for task in free] == [True, True, True, False, True, False, True, False]
    for task in free:
        task.cancel()
