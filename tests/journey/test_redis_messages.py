"""What a foreign message says about its retries is acted on, in the hash, in the book and in the end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.errors import ErrorReport
from penstock.model.outcomes import Retry
from penstock.settings import RedisServer
from tests.support.redis_program import DEAD, RedisProgram

AGAIN = Retry(ErrorReport(code="ERR_TIMEOUT", message="it took too long"))


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis, worker={"retry_delays": ["0s"]})
    yield made
    made.bare.close()


@pytest.mark.parametrize(
    ("spent", "allowed", "attempts"), [(0, 3, 4), (2, 3, 2), (3, 3, 1), (0, 0, 1), (1, 5, 5)]
)
def test_retries_that_were_spent_are_not_had_again(
    yard: RedisProgram, spent: int, allowed: int, attempts: int
) -> None:
    """A message with retry_count n has n spent of its max_retries; the rest it gets, and no more."""
    job = str(yard.message(1)["job_id"])
    yard.push(yard.message(1, retry_count=spent, max_retries=allowed))

    counted, tried = [], 0
    while yard.worked(AGAIN) == [job]:
        tried += 1
        counted.append(int(yard.shown(job)["retry_count"]))
        assert tried <= attempts

    assert tried == attempts
    assert counted == [*range(spent + 1, allowed + 1), allowed]
    assert yard.shown(job)["status"] == "failed"
    assert yard.rows("status, retry_count, max_retries") == [("failed", allowed, allowed)]
    assert yard.bare.call("LLEN", DEAD) == 1
