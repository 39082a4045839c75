"""Tickets: good once, for a short time, for whoever they were issued to, in whichever process."""

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.sqlite.tickets import PASS_SECONDS, TICKET_SECONDS, TICKETS_MAX
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Refused
from penstock.model.principals import LOCAL, Principal, Proof
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.tokens import USER

OTHER = "0d9e7c11-6a0b-4a51-9d8e-2f3b4c5d6e7f"

REDEEMER = """\
import asyncio, sys
from pathlib import Path
from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Refused
from penstock.model.rules import Rules

async def main():
    store = await open_sqlite(Path(sys.argv[1]), rules=Rules(), clock=SystemClock())
    print("ready", flush=True)
    won = 0
    for ticket in sys.stdin.readline().split():
        try:
            await store.tickets.redeem(ticket)
            won += 1
        except Refused:
            pass
    print(won, flush=True)
    await store.close()

asyncio.run(main())
"""


def ann(clock: FakeClock, seconds: float = 600) -> Principal:
    return Principal(user=USER, expires_at=clock.now() + seconds)


async def code_of(store: SqliteStore, ticket: str) -> str:
    with pytest.raises(Refused) as refused:
        await store.tickets.redeem(ticket)
    assert refused.value.message == "the ticket is not accepted"
    return refused.value.code


async def test_a_ticket_is_good_once_for_whom_it_was_issued(store: SqliteStore, clock: FakeClock) -> None:
    """T7, T8: the same user, until his token ends, proven by the ticket; then no more."""
    ticket = await store.tickets.issue(ann(clock))

    found = await store.tickets.redeem(ticket)

    assert found == Principal(user=USER, expires_at=clock.now() + 600, proof=Proof.TICKET)
    assert await code_of(store, ticket) == "ERR_TICKET_INVALID"


async def test_the_local_user_has_tickets_without_an_end_of_his_own(store: SqliteStore) -> None:
    """T8: what has no end hands on none."""
    found = await store.tickets.redeem(await store.tickets.issue(LOCAL))

    assert (found.user, found.expires_at) == (LOCAL.user, None)


async def test_a_ticket_ends_after_its_time(store: SqliteStore, clock: FakeClock) -> None:
    """T7: at the end of it, not before."""
    first, second = [await store.tickets.issue(ann(clock)) for _ in range(2)]

    clock.advance(TICKET_SECONDS - 0.01)
    await store.tickets.redeem(first)
    clock.advance(0.01)

    assert await code_of(store, second) == "ERR_TICKET_INVALID"


async def test_a_ticket_never_outlives_its_token(store: SqliteStore, clock: FakeClock) -> None:
    """T8: whichever ends first; and on what is over none is issued."""
    ticket = await store.tickets.issue(ann(clock, seconds=5))
    clock.advance(5)

    assert await code_of(store, ticket) == "ERR_TICKET_INVALID"
    with pytest.raises(Refused) as refused:
        await store.tickets.issue(ann(clock, seconds=0))
    assert refused.value.code == "ERR_TOKEN_EXPIRED"


async def test_a_pass_is_good_until_its_token_ends(store: SqliteStore, clock: FakeClock) -> None:
    """T8, T10: as often as it is shown; not for longer than a day where the token lives on."""
    held = await store.tickets.issue_pass(ann(clock, seconds=600))
    long = await store.tickets.issue_pass(ann(clock, seconds=10 * PASS_SECONDS))
    found = Principal(user=USER, expires_at=clock.now() + 600, proof=Proof.PASS)

    assert [await store.tickets.read_pass(held) for _ in range(3)] == [found] * 3
    clock.advance(599.0)
    assert await store.tickets.read_pass(held) == found
    clock.advance(1.0)
    await refused_pass(store, held)
    await store.tickets.read_pass(long)
    clock.advance(PASS_SECONDS)
    await refused_pass(store, long)


async def test_a_ticket_is_no_pass_and_a_pass_no_ticket(store: SqliteStore, clock: FakeClock) -> None:
    """T10: what may stand in an address opens once, what opens again may not stand there."""
    ticket, held = await store.tickets.issue(ann(clock)), await store.tickets.issue_pass(ann(clock))

    await refused_pass(store, ticket)
    assert await code_of(store, held) == "ERR_TICKET_INVALID"
    for text in ("", "pst_", "pst_" + "A" * 43, "pst_" + "A" * (1 << 20)):
        await refused_pass(store, text)
    await store.tickets.read_pass(held)
    await store.tickets.redeem(ticket)


async def test_passes_and_tickets_do_not_push_each_other_out(store: SqliteStore, clock: FakeClock) -> None:
    """T9: so many of each; of too many the oldest go, whatever ends first."""
    ticket = await store.tickets.issue(ann(clock))
    held = []
    for number in range(TICKETS_MAX + 2):
        clock.advance(0.001)
        held.append(await store.tickets.issue_pass(ann(clock, seconds=600 - number)))

    for each in held[:2]:
        await refused_pass(store, each)
    for each in held[2:]:
        await store.tickets.read_pass(each)
    await store.tickets.redeem(ticket)


async def refused_pass(store: SqliteStore, held: str) -> None:
    with pytest.raises(Refused) as refused:
        await store.tickets.read_pass(held)
    assert refused.value.code == "ERR_TICKET_INVALID"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "pst_",
        "pst_" + "A" * 43,
        "A" * 47,
        "pst_" + "A" * (1 << 20),
        "pst_' OR 1=1 --",
        "pst_\0" + "A" * 42,
    ],
    ids=range(7),
)
async def test_any_other_text_is_refused_alike(store: SqliteStore, clock: FakeClock, text: str) -> None:
    """T7: made-up, endless and odd ones look like a used one."""
    await store.tickets.issue(ann(clock))

    assert await code_of(store, text) == "ERR_TICKET_INVALID"


async def test_only_hashes_are_kept(store: SqliteStore, clock: FakeClock, tmp_path: Path) -> None:
    """T6: whoever reads the database can redeem nothing of it; no two tickets are alike."""
    tickets = [await store.tickets.issue(ann(clock)) for _ in range(20)]

    with closing(sqlite3.connect(tmp_path / "penstock.db")) as db:
        kept = "\n".join(str(row) for row in db.execute("SELECT * FROM tickets"))
    assert len(set(tickets)) == 20
    assert not any(ticket in kept or ticket[4:] in kept for ticket in tickets)
    assert await code_of(store, kept[2:66]) == "ERR_TICKET_INVALID"


async def test_what_is_over_is_removed_and_the_oldest_of_many_go(
    store: SqliteStore, clock: FakeClock, tmp_path: Path
) -> None:
    """T9: the table holds what can still be used, so many of each user."""

    def kept() -> dict[str, int]:
        with closing(sqlite3.connect(tmp_path / "penstock.db")) as db:
            return dict(db.execute("SELECT user_id, count(*) FROM tickets GROUP BY user_id"))

    others = await store.tickets.issue(Principal(user=OTHER))
    mine = []
    for _ in range(TICKETS_MAX + 3):
        clock.advance(0.001)
        mine.append(await store.tickets.issue(ann(clock)))

    assert kept() == {USER: TICKETS_MAX, OTHER: 1}
    assert [await code_of(store, ticket) for ticket in mine[:3]] == ["ERR_TICKET_INVALID"] * 3
    assert (await store.tickets.redeem(mine[3])).user == USER
    assert (await store.tickets.redeem(others)).user == OTHER

    clock.advance(TICKET_SECONDS)
    await store.tickets.issue(Principal(user=OTHER))
    assert kept() == {OTHER: 1}


async def test_of_many_who_redeem_at_once_one_wins(store: SqliteStore, clock: FakeClock) -> None:
    """T7: side by side in one process."""
    ticket = await store.tickets.issue(ann(clock))

    found = await asyncio.gather(*(store.tickets.redeem(ticket) for _ in range(50)), return_exceptions=True)

    assert [type(each) for each in found].count(Principal) == 1


async def test_of_two_processes_one_redeems(tmp_path: Path) -> None:
    """T7: each of many tickets is offered to two other processes at once, and is good in one of them."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock(), ticket_seconds=120)
    tickets = [await store.tickets.issue(Principal(user=USER)) for _ in range(40)]

    def race() -> list[int]:
        children = [
            subprocess.Popen(
                [sys.executable, "-c", REDEEMER, tmp_path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(2)
        ]
        try:
            for child in children:
                assert child.stdout is not None
                assert child.stdout.readline() == "ready\n"
            for child in children:
                assert child.stdin is not None
                child.stdin.write(" ".join(tickets) + "\n")
                child.stdin.flush()
            return [int(child.communicate(timeout=60)[0]) for child in children]
        finally:
            for child in children:
                child.kill()
                child.wait()

    won = await asyncio.to_thread(race)
    await store.close()

    assert sum(won) == len(tickets)
