"""How soon somebody who waits for work looks at it again."""

from __future__ import annotations

import pytest

from penstock.doors.cli.ingest.following import LAST_FEW, LOOK_SECONDS, SOON_SECONDS, Outlook, pause_before


@pytest.mark.parametrize(
    ("left", "quiet", "pause"),
    [
        (LAST_FEW + 1, 0.0, LOOK_SECONDS),
        (LAST_FEW, 0.0, SOON_SECONDS),
        (1, 1.0, 0.1),
        (1, 60.0, LOOK_SECONDS),
    ],
)
def test_the_last_few_are_looked_at_soon(left: int, quiet: float, pause: float) -> None:
    """Many are looked at now and then; the last ones often, and less so the longer none of them ends."""
    seen = Outlook(total=20 + left, done=19, failed=1, is_over=False)

    assert pause_before(seen, quiet) == pytest.approx(pause)
