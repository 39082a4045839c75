"""Dead letters as pictures for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

from penstock.doors.cli.columns import Column
from penstock.doors.cli.dlq.shapes import LetterReplay
from penstock.doors.cli.output import clean
from penstock.doors.cli.tables import Fitted
from penstock.doors.cli.words import since
from penstock.model.letters import Letter


def letters(found: Sequence[Letter], now: float) -> Fitted:
    """A page of letters; a job is shown where the letter does not carry its id."""
    jobs = ["" if each.job_id in (None, each.id) else str(each.job_id) for each in found]
    ages = ["" if each.failed_at is None else since(each.failed_at, now) for each in found]
    reasons = [Text(clean(each.reason or "")) for each in found]
    return Fitted(
        [
            Column(title="LETTER", cells=[Text(clean(each.id)) for each in found]),
            Column(title="JOB", cells=[Text(clean(job)) for job in jobs], rank=2),
            Column(title="ERROR", cells=[Text(clean(each.code or ""), style="red") for each in found]),
            Column(title="REASON", cells=reasons, is_flexible=True, keeps_start=True),
            Column(title="FAILED", cells=[Text(age, style="dim") for age in ages], rank=1, is_right=True),
        ]
    )


def replays(found: Sequence[LetterReplay]) -> Fitted:
    """Letters and what they became."""
    return Fitted(
        [
            Column(title="LETTER", cells=[Text(clean(each["id"])) for each in found]),
            Column(title="NEW JOB", cells=[Text(each["new"] or "") for each in found]),
            Column(title="HOW", cells=[Text(each["how"] or "") for each in found]),
        ]
    )
