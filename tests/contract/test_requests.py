"""Requests that may be sent again: clauses Q1 to Q5."""

import pytest

from penstock.engines.sqlite import requests as engine
from penstock.model.errors import Refused
from penstock.model.requests import BODY_BYTES_MAX, KEPT_SECONDS, Answered, fingerprint_of
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.support.cataloguing import declared
from tests.support.clock import FakeClock

NEEDS_DATABASE = True
ME, YOU = "me", "you"
SAME = fingerprint_of("POST", "/api/workspaces", b'{"name":"a"}')
OTHER = fingerprint_of("POST", "/api/workspaces", b'{"name":"b"}')
MADE = Answered(status=201, body=b'{"id":"w1"}')


async def answered(store: Store, key: str = "k", user: str = ME, fingerprint: str = SAME) -> Answered | None:
    return await store.write(lambda tx: tx.requests.earlier(user, key, fingerprint))


async def kept(store: Store, key: str = "k", user: str = ME, answer: Answered = MADE) -> None:
    await store.write(lambda tx: tx.requests.keep(user, key, SAME, answer))


async def test_a_request_sent_again_gets_its_answer(home: Home, store: Store) -> None:
    """Q1: also from another process, after a crash."""
    before = await answered(store)
    await kept(store)
    again = await home.crash(store)

    assert before is None
    assert await answered(again) == MADE


async def test_a_key_belongs_to_one_request(store: Store) -> None:
    """Q2: another request under it is refused."""
    await kept(store)

    with pytest.raises(Refused) as caught:
        await answered(store, fingerprint=OTHER)

    assert caught.value.code == "ERR_IDEMPOTENCY_MISMATCH"


async def test_what_failed_has_no_answer(store: Store) -> None:
    """Q3: the work and its answer are there together or not at all."""

    def work(tx: Transaction) -> None:
        declared(tx)
        tx.requests.keep(ME, "k", SAME, MADE)
        raise Refused("no", code="ERR_REFUSED")

    with pytest.raises(Refused):
        await store.write(work)

    assert await answered(store) is None


async def test_nobody_meets_anothers_key(store: Store) -> None:
    """Q4: neither its answer nor its being taken."""
    await kept(store)

    assert await answered(store, user=YOU, fingerprint=OTHER) is None


async def test_old_answers_are_forgotten(store: Store, clock: FakeClock) -> None:
    """Q5: after a day the key is free again, for any request."""
    await kept(store)
    clock.advance(KEPT_SECONDS)
    free = await answered(store, fingerprint=OTHER)
    later = Answered(status=202, body=b"later")
    await store.write(lambda tx: tx.requests.keep(ME, "k", OTHER, later))

    assert free is None
    assert await answered(store, fingerprint=OTHER) == later


async def test_a_users_answers_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Q5: of too many the oldest goes, and nobody else's."""
    monkeypatch.setattr(engine, "KEPT_MAX", 2)
    await kept(store, "yours", YOU)
    for key in ("first", "second", "third"):
        await kept(store, key)

    assert [await answered(store, key) for key in ("first", "second", "third")] == [None, MADE, MADE]
    assert await answered(store, "yours", YOU) == MADE


async def test_an_answer_too_large_is_refused(store: Store) -> None:
    """Q5: with it all that was done for it."""
    with pytest.raises(Refused) as caught:
        await kept(store, answer=Answered(status=200, body=b"x" * (BODY_BYTES_MAX + 1)))

    assert caught.value.code == "ERR_ANSWER_TOO_LARGE"


@pytest.mark.parametrize("key", ["", "a b", "ключ", "x" * 201, "a\nb"])
async def test_what_is_no_key_is_refused(store: Store, key: str) -> None:
    """Q1: keys are short and printable, so that they fit a header."""
    with pytest.raises(Refused) as caught:
        await answered(store, key)

    assert caught.value.code == "ERR_IDEMPOTENCY_KEY_INVALID"


def test_fingerprints_keep_their_parts_apart() -> None:
    """Q2: what moves from one part to the next is another request."""
    assert fingerprint_of("ab", "c") != fingerprint_of("a", "bc")
    assert fingerprint_of("ab", b"c") == fingerprint_of(b"ab", "c")


async def test_a_key_is_known_whatever_it_was_used_for(store: Store) -> None:
    """Q1, Q4: to the user whose key it is."""
    await kept(store)

    known = await store.write(lambda tx: [tx.requests.knows(each, "k") for each in (ME, YOU)])

    assert known == [True, False]
    assert not await store.write(lambda tx: tx.requests.knows(ME, "other"))
