"""Progress of a migration for a log: a line now and then, wherever its portions end."""

import pytest

from penstock.doors.cli.migrate import LINE_EVERY_ROWS, ProgressLines


def test_progress_is_told_though_no_portion_ends_on_a_round_number(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Portions of long texts end early; a line comes with the first portion that is far enough on."""
    lines = ProgressLines()
    rows = 3 * LINE_EVERY_ROWS

    for looked in range(0, rows, 999):
        lines.say("ingestion_queue", looked, rows)

    told = capsys.readouterr().err.splitlines()
    assert told == ["ingestion_queue: 100,899 of 300,000 rows", "ingestion_queue: 201,798 of 300,000 rows"]
