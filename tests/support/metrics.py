"""A page of metrics as a scraper reads it, and the program's own port."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

from tests.support.command_line import PATIENCE


@dataclass(frozen=True, slots=True)
class Numbers:
    """Every sample by name and labels."""

    samples: dict[tuple[str, frozenset[tuple[str, str]]], float]

    def value(self, name: str, **labels: str) -> float:
        return self.samples[name, frozenset(labels.items())]

    def by_queue(self, name: str) -> dict[str, float]:
        """What is not zero, by queue, over all other labels."""
        return self._by("queue", name)

    def by_reason(self) -> dict[str, float]:
        return self._by("reason", "jobs_failed_total")

    def _by(self, label: str, name: str) -> dict[str, float]:
        found: Counter[str] = Counter()
        for (each, labels), value in self.samples.items():
            if each == name and value:
                found[dict(labels)[label]] += value  # type: ignore[assignment]  # a count may be a float
        return dict(found)


def numbers_of(text: str) -> Numbers:
    """The page as prometheus_client's own parser reads it."""
    return Numbers(
        {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }
    )


def fetched(port: int, path: str, accept: str = "") -> tuple[int, str]:
    """Status and text of a page."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  # loopback, by our own hand
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
