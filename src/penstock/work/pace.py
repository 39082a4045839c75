"""How often the background trades turn, with the jitter that keeps a fleet from marching in step."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.model.payloads import ItemType


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds, all of them."""

    beat: float = 2.0
    look_after: float = 1.0
    """How often the keeper looks after running jobs: renewals, cancels."""
    stuck_after: float = 5.0
    """A fetch loop that has not turned for so long no longer beats."""
    dead_after: float = 9.0
    rescue: float = 0.5
    promote_max: float = 1.0
    idle: float = 1.0
    grace: float = 30.0
    prune: float = 60.0
    keep_done: float = 7 * 86_400.0
    keep_failed: float = 30 * 86_400.0
    keep_events: float = 7 * 86_400.0
    timeout: float = 3600.0
    timeouts: Mapping[ItemType, float] = field(default_factory=dict)
    stall: float = 0.0
    """A lease is no longer renewed when its handler reported no progress for so long; 0 switches this off."""

    def timeout_for(self, item_type: ItemType) -> float:
        """How long one attempt at this item type may run."""
        return self.timeouts.get(item_type, self.timeout)


def jittered_around(seconds: float) -> float:
    """A quarter more or less."""
    return seconds * random.uniform(0.75, 1.25)  # noqa: S311  # spreads load, guards nothing
