"""A judge of the order of claims (C6), which sees every claim and everything that was claimable.

"In turn" is judged by its definition: a tenant is not served again at a priority while another tenant that
has had a claimable job there ever since has not been served in between.
"""

from dataclasses import dataclass, field

from tests.property.model_queue import Known

Lane = tuple[str, int]
"""A tenant and a priority."""


def lane_of(job: Known) -> Lane:
    return job.new.tenant, job.rank


@dataclass
class OrderJudge:
    """Knows how many jobs were claimed, and whom each tenant must let pass."""

    every: int
    counts: set[int] = field(default_factory=lambda: {0})
    """How many were claimed so far; more than one number where a claim may or may not have counted."""
    owed: dict[Lane, set[str]] = field(default_factory=dict)
    """For each lane served: tenants that have waited at its priority ever since."""

    def judge(self, chosen: Known, claimable: list[Known]) -> None:
        """One claimed job against all that could have been."""
        longest = {count for count in self.counts if self.every and (count + 1) % self.every == 0}
        allowed: set[int] = set()
        if chosen is min(claimable, key=lambda job: job.age):
            allowed |= longest
        in_turn = self._is_in_turn(chosen, claimable)
        if in_turn:
            allowed |= self.counts - longest
        assert allowed, self._complaint(chosen, claimable)
        self.counts = {count + 1 for count in allowed}
        self._serve(chosen, claimable, by_turn=not allowed & longest)

    def suspect_served(self) -> None:
        """A job that runs alone stands outside the order; whether it counts is left open."""
        self.counts |= {count + 1 for count in self.counts}

    def look(self, claimable: list[Known]) -> None:
        """Whoever has nothing to claim now has not waited ever since."""
        lanes = {lane_of(job) for job in claimable}
        for (_, rank), tenants in self.owed.items():
            tenants &= {tenant for tenant, its_rank in lanes if its_rank == rank}

    def _is_in_turn(self, chosen: Known, claimable: list[Known]) -> bool:
        if chosen.rank != max(job.rank for job in claimable):
            return False
        lane = [job for job in claimable if lane_of(job) == lane_of(chosen)]
        if chosen is not min(lane, key=lambda job: job.age):
            return False
        self.look(claimable)
        return not self.owed.get(lane_of(chosen))

    def _serve(self, chosen: Known, claimable: list[Known], *, by_turn: bool) -> None:
        tenant, rank = lane_of(chosen)
        for (_, its_rank), tenants in self.owed.items():
            if its_rank == rank:
                tenants.discard(tenant)
        if by_turn:
            self.owed[tenant, rank] = {
                job.new.tenant for job in claimable if job.rank == rank and job.new.tenant != tenant
            }

    def _complaint(self, chosen: Known, claimable: list[Known]) -> str:
        lines = [
            f"{job.new.tenant} {job.rank} {job.age} {'<- chosen' if job is chosen else ''}"
            for job in claimable
        ]
        return "\n".join([f"out of order after {self.counts} claims, owed {self.owed}", *lines])
