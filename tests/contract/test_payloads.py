"""Payloads that were damaged in the store."""

import pytest

from penstock.model.jobs import NewJob
from penstock.model.states import State
from tests.contract.engines import Home, Store
from tests.contract.steps import claimed, drain, ending, submit
from tests.support.jobs import a_folder, a_job, a_note, a_rename

DAMAGED: list[tuple[NewJob, str, str]] = [
    (a_note(), "{torn", "ERR_PAYLOAD_INVALID"),
    (a_note(), "[]", "ERR_PAYLOAD_INVALID"),
    (a_note(), '{"content": ""}', "ERR_PAYLOAD_INVALID"),
    (a_job(), "{}", "ERR_PAYLOAD_INVALID"),
    (a_job(), '{"file_path": 7}', "ERR_PAYLOAD_INVALID"),
    (a_job(), '{"file_path": "../etc/passwd"}', "ERR_PATH_INVALID"),
    (a_folder(), '{"folder_path": "/f", "recursive_depth": 9999}', "ERR_PAYLOAD_INVALID"),
]


@pytest.mark.parametrize(("job", "payload", "code"), DAMAGED, ids=[payload for _, payload, _ in DAMAGED])
async def test_a_payload_that_does_not_fit_fails_with_its_code(
    home: Home, store: Store, job: NewJob, payload: str, code: str
) -> None:
    """C20: it is never handed out, ends at the claim that met it, and others are not held up."""
    (bad,) = await submit(store.queue, job)
    home.spoil(bad, payload)
    (good,) = await submit(store.queue, a_job())

    handed_out = [*await claimed(store.queue, 1), *await drain(store.queue)]

    assert handed_out == [good]
    assert await ending(store.desk, bad) == (State.FAILED, code)


async def test_one_bad_payload_does_not_spoil_a_claim_of_many(home: Home, store: Store) -> None:
    """C20: the others of the same claim are handed out."""
    first, bad, last = await submit(store.queue, a_job(), a_note(), a_job())
    home.spoil(bad, "{torn")

    assert await claimed(store.queue) == [first, last]
    assert await ending(store.desk, bad) == (State.FAILED, "ERR_PAYLOAD_INVALID")


async def test_the_line_behind_a_bad_payload_goes_on(home: Home, store: Store) -> None:
    """C20: its subject is free once it has failed."""
    bad, rename = await submit(store.queue, a_job("/x"), a_rename("/x"))
    home.spoil(bad, '{"file_path": "/x", "size_bytes": -1}')

    await claimed(store.queue)

    assert await ending(store.desk, bad) == (State.FAILED, "ERR_PAYLOAD_INVALID")
    assert await drain(store.queue) == [rename]
