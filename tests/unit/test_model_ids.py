"""Ids: the form others expect, and an order that follows time."""

import re
import uuid

from hypothesis import given
from hypothesis import strategies as st

from penstock.model.ids import documented_ids, new_job_id, new_worker_id
from penstock.model.jobs import JobId
from tests.support.jobs import a_job

MOMENTS = st.integers(min_value=0, max_value=(1 << 48) - 4)


@given(MOMENTS)
def test_a_job_id_is_a_uuid_of_version_7(millis: int) -> None:
    """Whatever the time, the id has the form, version and variant of a UUIDv7."""
    text = new_job_id(millis / 1000)
    found = uuid.UUID(text)

    assert str(found) == text
    assert (found.version, found.variant) == (7, uuid.RFC_4122)


@given(MOMENTS, MOMENTS)
def test_later_ids_sort_after_earlier_ones(one: int, other: int) -> None:
    """Text order follows time, a millisecond apart or a century."""
    early, late = sorted((one, other))
    if late - early < 2:
        late = early + 2

    assert new_job_id(early / 1000) < new_job_id(late / 1000)


def test_ids_of_one_moment_differ() -> None:
    """The random part keeps ids of one millisecond apart."""
    assert len({new_job_id(1_750_000_000.0) for _ in range(10_000)}) == 10_000


def test_a_drawn_id_is_one_a_job_may_carry() -> None:
    """The documented form passes the check every submitted id must pass."""
    drawn = JobId(new_job_id())

    assert a_job(id=drawn).id == drawn


def test_documented_ids_have_the_pages_form_and_differ() -> None:
    """Q94-Q120: prefix, collection, seconds and eight hexadecimal digits."""
    ids = documented_ids("policies_rag", 1_704_882_600.9, 1000)

    assert len(set(ids)) == 1000
    assert all(re.fullmatch(r"rag-policies_rag-1704882600-[0-9a-f]{8}", each) for each in ids)


def test_a_worker_id_is_new_at_every_start() -> None:
    """Host, process and a random tail: readable, and never the same twice."""
    ids = {new_worker_id() for _ in range(100)}

    assert len(ids) == 100
    assert all(re.fullmatch(r"[\w.-]+-\d+-[0-9a-f]{8}", name) for name in ids)
