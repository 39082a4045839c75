"""A circuit breaker per dependency: after too many failures it is left alone for a while, then probed.

Only the dependency's own failures count; a bad file is not its fault. A probe that ends without a verdict (it
found no work, it was cancelled) gives its place back, so the breaker cannot stick half-open.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum

from penstock.model.errors import Unavailable
from penstock.ports.clock import Clock
from penstock.ports.telemetry import SILENT, Telemetry


class BreakerState(IntEnum):
    """The documented numbers of the gauge."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerRules:
    """When to open, and for how long."""

    failure_threshold: float = 0.5
    window: float = 60.0
    cooldown_period: float = 30.0
    min_samples: int = 20


class Breaker:
    """Use it around each call: `with breaker.call(): ...`."""

    def __init__(
        self, dependency: str, clock: Clock, rules: BreakerRules, changed: Callable[[], None] = lambda: None
    ) -> None:
        """`changed` is called when it opens, opens again or closes."""
        self.dependency = dependency
        self._changed = changed
        self._clock = clock
        self._rules = rules
        self._results: deque[tuple[float, bool]] = deque()
        self._failures = 0
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> BreakerState:
        """What it would do with a call now."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.OPEN if self._cooling() > 0 else BreakerState.HALF_OPEN

    @property
    def until(self) -> float:
        """The steady time from which it is probed; 0 while it is closed."""
        return 0.0 if self._opened_at is None else self._opened_at + self._rules.cooldown_period

    @contextmanager
    def call(self) -> Iterator[None]:
        """Raises Unavailable at once while open; otherwise the call's own end is the verdict."""
        probe = self._admit()
        try:
            yield
        except Unavailable:
            self._record(ok=False, probe=probe)
            raise
        except BaseException:
            if probe:
                self._probing = False
            raise
        self._record(ok=True, probe=probe)

    def _admit(self) -> bool:
        match self.state:
            case BreakerState.CLOSED:
                return False
            case BreakerState.HALF_OPEN if not self._probing:
                self._probing = True
                return True
            case _:
                wait = max(self._cooling(), 1.0)
                raise Unavailable(
                    f"{self.dependency} failed too often and is left alone for {wait:.0f} s",
                    code="ERR_BREAKER_OPEN",
                    retry_after=wait,
                )

    def _record(self, *, ok: bool, probe: bool) -> None:
        now = self._clock.steady()
        if probe:
            self._probing = False
            self._opened_at = None if ok else now
            self._results.clear()
            self._failures = 0
            self._changed()
        elif self._opened_at is None:
            self._results.append((now, ok))
            self._failures += not ok
            self._forget(now)
            if self._tripped():
                self._opened_at = now
                self._changed()

    def _forget(self, now: float) -> None:
        while self._results and now - self._results[0][0] > self._rules.window:
            self._failures -= not self._results.popleft()[1]

    def _tripped(self) -> bool:
        total = len(self._results)
        return total >= self._rules.min_samples and self._failures / total >= self._rules.failure_threshold

    def _cooling(self) -> float:
        return self.until - self._clock.steady() if self._opened_at is not None else 0.0


class Breakers:
    """One breaker per dependency, made when first asked for."""

    def __init__(self, clock: Clock, rules: BreakerRules, telemetry: Telemetry = SILENT) -> None:
        self._clock = clock
        self._rules = rules
        self._telemetry = telemetry
        self._known: dict[str, Breaker] = {}

    def of(self, dependency: str) -> Breaker:
        """The breaker of this dependency."""
        if dependency not in self._known:
            self._known[dependency] = Breaker(dependency, self._clock, self._rules, self._tell)
        return self._known[dependency]

    def states(self) -> dict[str, BreakerState]:
        """All of them, for the gauge and for `status`."""
        return {name: breaker.state for name, breaker in self._known.items()}

    def _tell(self) -> None:
        """The one left alone for longest is the worst."""
        self._telemetry.left_alone(max(breaker.until for breaker in self._known.values()))
