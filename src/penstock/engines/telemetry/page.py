"""The page of metrics: what all processes of one supervisor counted, and what the store was found to hold."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from penstock.engines.telemetry.board import (
    BUCKET,
    BUCKETS,
    COMPLETED,
    CONSUMED,
    DEAD,
    LEFT_ALONE,
    MOVED,
    REASON,
    RETRIED,
    SECONDS,
    WIDTH,
    Board,
    new_board,
    new_memory,
)
from penstock.engines.telemetry.labels import Labels
from penstock.ports.clock import Clock

CLOSED, HALF_OPEN, OPEN = 0, 1, 2
_COUNTERS = (
    ("jobs_consumed", CONSUMED, "Attempts begun by workers."),
    ("jobs_completed", COMPLETED, "Jobs done."),
    ("jobs_retried", RETRIED, "Failed attempts after which the job is tried again."),
    ("jobs_dead_letter", DEAD, "Failed attempts after which the job has failed for good."),
)


class Page(Collector):
    """Every number there is to serve; the supervisor and its children write, a scrape reads."""

    def __init__(self, labels: Labels, clock: Clock) -> None:
        self.labels = labels
        self._clock = clock
        self._kept = new_board(labels)
        """What was counted by those who are gone."""
        self._boards: list[Board] = []
        self._produced: Counter[str] = Counter()
        self._lengths: dict[str, int] = {}
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)

    def open_board(self) -> tuple[Board, int]:
        """A board for one process, and the descriptor by which it finds it; close that when it was passed."""
        descriptor = new_memory(self.labels)
        try:
            board = Board(descriptor, self.labels)
        except BaseException:
            os.close(descriptor)
            raise
        self._boards.append(board)
        return board, descriptor

    def retire(self, board: Board) -> None:
        """Its process is gone; what it counted stays."""
        self._boards.remove(board)
        self._kept.add(board)
        board.close()

    def produced(self, counts: Mapping[str, int]) -> None:
        """So many jobs are new."""
        self._produced.update(self._by_label(counts))

    def measured(self, lengths: Mapping[str, int]) -> None:
        """So many jobs wait now."""
        self._lengths = self._by_label(lengths)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """The page in the format a scraper asks for, and that format's name."""
        encoder, content_type = choose_encoder(accept)
        return encoder(self._registry), content_type

    def close(self) -> None:
        """Let go of all memory."""
        for board in (*self._boards, self._kept):
            board.close()
        self._boards.clear()

    def collect(self) -> Iterable[Metric]:
        """All metrics of the contract, each with a value for every queue from the start."""
        total = self._total()
        names = self.labels.names
        produced = CounterMetricFamily("jobs_produced", "Jobs that came into the queue.", labels=["queue"])
        for name in names:
            produced.add_metric([name], self._produced[name])
        yield produced
        for metric, place, words in _COUNTERS:
            counter = CounterMetricFamily(metric, words, labels=["queue"])
            for name, numbers in zip(names, total, strict=True):
                counter.add_metric([name], numbers[place])
            yield counter
        yield self._failed(total)
        yield _durations(names, total)
        lengths = GaugeMetricFamily("queue_length", "Jobs that could be claimed now.", labels=["queue"])
        for name in names:
            lengths.add_metric([name], self._lengths.get(name, 0))
        yield lengths
        yield self._breakers()
        moved = self._kept.numbers[self._kept.whole + MOVED]
        moved += sum(board.numbers[board.whole + MOVED] for board in self._boards)
        yield CounterMetricFamily(
            "reaper_jobs_moved", "Jobs taken back from workers that were gone.", value=moved
        )

    def _failed(self, total: list[list[float]]) -> Metric:
        failed = CounterMetricFamily(
            "jobs_failed", "Attempts that failed, by why.", labels=["queue", "reason"]
        )
        for name, numbers in zip(self.labels.names, total, strict=True):
            for reason, place in REASON.items():
                failed.add_metric([name, reason.value], numbers[place])
        return failed

    def _breakers(self) -> Metric:
        """Work of any queue may need any dependency, so they all show the worst breaker."""
        until = max((board.numbers[board.whole + LEFT_ALONE] for board in self._boards), default=0.0)
        state = CLOSED if not until else OPEN if until > self._clock.steady() else HALF_OPEN
        gauge = GaugeMetricFamily(
            "circuit_breaker_state",
            "The worst breaker this queue's jobs need: 0 closed, 1 half-open, 2 open.",
            labels=["queue"],
        )
        for name in self.labels.names:
            gauge.add_metric([name], state)
        return gauge

    def _total(self) -> list[list[float]]:
        """Each queue's numbers, summed over all processes."""
        sums = [list(numbers) for numbers in self._kept]
        for board in self._boards:
            for mine, theirs in zip(sums, board, strict=True):
                for place in range(WIDTH):
                    mine[place] += theirs[place]
        return sums

    def _by_label(self, counts: Mapping[str, int]) -> dict[str, int]:
        found: Counter[str] = Counter()
        for queue, count in counts.items():
            found[self.labels.names[self.labels.place(queue)]] += count
        return dict(found)


def _durations(names: tuple[str, ...], total: list[list[float]]) -> Metric:
    metric = HistogramMetricFamily(
        "job_processing_duration_seconds", "How long attempts took.", labels=["queue"]
    )
    for name, numbers in zip(names, total, strict=True):
        metric.add_metric([name], list(_buckets(numbers)), sum_value=numbers[SECONDS])
    return metric


def _buckets(numbers: list[float]) -> Iterator[tuple[str, float]]:
    """Each bound with how many took no longer."""
    seen = 0.0
    for bound, count in zip((*map(str, BUCKETS), "+Inf"), numbers[BUCKET:], strict=True):
        seen += count
        yield bound, seen
