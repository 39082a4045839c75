"""The table of states: what may follow what, and the words each surface has for them."""

import pytest

from penstock.model.states import (
    ENDED,
    EVENT_STATUS,
    JOB_HASH_STATUS,
    SQL_STATUS,
    TRANSITIONS,
    State,
    state_of,
)


def test_every_state_is_in_the_table() -> None:
    """No state is forgotten, and none leads to a state that does not exist."""
    assert set(TRANSITIONS) == set(State)
    assert all(following <= set(State) for following in TRANSITIONS.values())


@pytest.mark.parametrize("state", sorted(ENDED))
def test_there_is_no_way_out_of_an_ended_state(state: State) -> None:
    """An ended job stays ended."""
    assert TRANSITIONS[state] == frozenset()


def test_only_done_and_failed_are_ends() -> None:
    """Every other state leads somewhere."""
    assert {state for state in State if not TRANSITIONS[state]} == ENDED == {State.DONE, State.FAILED}


@pytest.mark.parametrize("state", sorted(set(State) - ENDED))
def test_every_state_can_reach_both_ends(state: State) -> None:
    """No job can be stuck for ever by the table itself."""
    reached, ahead = set[State](), {state}
    while ahead:
        reached |= ahead
        ahead = {after for before in ahead for after in TRANSITIONS[before]} - reached

    assert reached >= ENDED


def test_done_is_reached_from_an_attempt_alone() -> None:
    """Nothing is done without having been leased."""
    assert [state for state in State if State.DONE in TRANSITIONS[state]] == [State.LEASED]


def test_only_a_ready_job_is_leased() -> None:
    """A delayed job becomes ready first."""
    assert [state for state in State if State.LEASED in TRANSITIONS[state]] == [State.READY]


@pytest.mark.parametrize(
    ("state", "sql", "job_hash", "event"),
    [
        (State.ACCEPTED, None, "submitted", "queued"),
        (State.READY, "pending", "queued", "queued"),
        (State.DELAYED, "pending", "queued", "queued"),
        (State.LEASED, "in_progress", "processing", "running"),
        (State.DONE, "done", "done", "success"),
        (State.FAILED, "failed", "failed", "failed"),
    ],
)
def test_each_surface_has_its_documented_word(
    state: State, sql: str | None, job_hash: str, event: str
) -> None:
    """The documented words for a core state on the SQL, Redis and event surfaces."""
    assert (SQL_STATUS.get(state), JOB_HASH_STATUS[state], EVENT_STATUS[state]) == (sql, job_hash, event)


@pytest.mark.parametrize(
    ("status", "due", "state"),
    [
        ("pending", False, State.READY),
        ("pending", True, State.DELAYED),
        ("in_progress", False, State.LEASED),
        ("done", False, State.DONE),
        ("failed", False, State.FAILED),
    ],
)
def test_a_row_tells_its_state(status: str, due: bool, state: State) -> None:
    """A row's status and due time give the core state."""
    assert state_of(status, due=due) is state


def test_a_status_nobody_documented_is_no_state() -> None:
    """An unknown status is an error, never guessed."""
    with pytest.raises(KeyError):
        state_of("paused", due=False)
