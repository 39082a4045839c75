"""A batch's state follows from its counts."""

import pytest

from penstock.model.batches import Batch, BatchState
from penstock.model.jobs import BatchId


@pytest.mark.parametrize(
    ("total", "done", "failed", "sealed", "state"),
    [
        (0, 0, 0, False, BatchState.OPEN),
        (2, 2, 0, False, BatchState.OPEN),
        (2, 1, 0, True, BatchState.RUNNING),
        (2, 0, 1, True, BatchState.RUNNING),
        (2, 2, 0, True, BatchState.DONE),
        (0, 0, 0, True, BatchState.DONE),
        (2, 1, 1, True, BatchState.PARTLY_FAILED),
        (2, 0, 2, True, BatchState.FAILED),
    ],
)
def test_a_batch_ends_when_it_is_sealed_and_the_last_child_has_ended(
    total: int, done: int, failed: int, sealed: bool, state: BatchState
) -> None:
    """C17: open until sealed, running until the counts meet, then done, partly failed or failed."""
    batch = Batch(
        id=BatchId("b"), parent=None, total=total, done=done, failed=failed, sealed=sealed, created_at=0.0
    )

    assert batch.state is state
