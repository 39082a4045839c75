"""Verification: is every legacy row that a job can be made of in the queue, and does its job still agree?"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from penstock.engines.legacy.layout import Layout
from penstock.engines.legacy.mapping import LegacyRow, Mapped
from penstock.model.legacy import LegacyJob, Taken, differences, moved_on, removed_in_time
from penstock.model.legacy_report import Verification
from penstock.wiring.adoption import Adopter
from penstock.wiring.legacy_rows import LegacyRows, Portion
from penstock.wiring.tallies import Tallies

ABSENT = "not in the queue"
GONE = "no longer in the queue"
DIFFERS = "differs from its row"
TAKEN = "another row has its id"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Since when ended jobs are kept; older ones may be gone."""

    done_before: float
    failed_before: float


async def verify_table(
    rows: LegacyRows, adopter: Adopter, layout: Layout, kept: Kept, now: float
) -> Verification:
    """Compare all rows of a table with the queue; changes nothing."""
    check = _Check(rows, kept, now)
    # A row without times of its own was given that of the run that took it, most often this one.
    async for portion in rows.portions(layout, now):
        jobs = [made.job for _, made in portion if isinstance(made, Mapped)]
        check.look(portion, await adopter.compare(jobs) if jobs else {})
    return check.result()


class _Check:
    def __init__(self, rows: LegacyRows, kept: Kept, now: float) -> None:
        self._rows = rows
        self._kept = kept
        self._now = now
        self._counts = Counter[str]()
        self._states: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._differences = Tallies()

    def look(self, portion: Portion, known: dict[str, Taken]) -> None:
        for row, made in portion:
            if isinstance(made, Mapped):
                self._counts["compared"] += 1
                self._look_at(row, made.job, known.get(made.job.job.id))

    def result(self) -> Verification:
        return Verification(
            compared=self._counts["compared"],
            unchanged=self._counts["unchanged"],
            moved_on=self._counts["moved_on"],
            removed=self._counts["removed"],
            states={state: dict(counts) for state, counts in self._states.items()},
            differences=self._differences.counted(),
        )

    def _look_at(self, row: LegacyRow, job: LegacyJob, taken: Taken | None) -> None:
        if taken is None:
            self._states[job.was]["absent"] += 1
            self._differences.add(ABSENT, job.row, "run the migration again")
        elif taken.named != job.named:
            self._states[job.was]["absent"] += 1
            self._differences.add(TAKEN, job.row, "it names something else than the row that was taken over")
        else:
            self._compare(self._as_taken(row, job, taken), taken)

    def _as_taken(self, row: LegacyRow, job: LegacyJob, taken: Taken) -> LegacyJob:
        """The job as it was made, which lies some time back."""
        again = job if taken.taken_at == self._now else self._rows.job(row, taken.taken_at)
        return again.job if isinstance(again, Mapped) else job

    def _compare(self, job: LegacyJob, taken: Taken) -> None:
        if taken.job is None:
            self._absent(job, taken)
            return
        self._states[job.was][taken.job.status] += 1
        found = differences(job, taken, taken.job)
        if found:
            self._differences.add(DIFFERS, job.row, "; ".join(found))
        else:
            self._counts["moved_on" if taken.joined or moved_on(job, taken.job) else "unchanged"] += 1

    def _absent(self, job: LegacyJob, taken: Taken) -> None:
        in_time = removed_in_time(
            job, taken, done_before=self._kept.done_before, failed_before=self._kept.failed_before
        )
        self._states[job.was]["removed" if in_time else "absent"] += 1
        if in_time:
            self._counts["removed"] += 1
        else:
            self._differences.add(GONE, job.row, "its job was removed before its retention was over")
