"""A clock that moves when the test says so."""

START = 1_750_000_000.0
"""A whole second, so that times survive every engine's way of storing them."""


class FakeClock:
    """Wall and steady time, both standing still until they are moved."""

    def __init__(self, start: float = START) -> None:
        self._wall = start
        self._steady = 1_000.0

    def now(self) -> float:
        return self._wall

    def steady(self) -> float:
        return self._steady

    def advance(self, seconds: float) -> None:
        """Let time pass: both clocks move, and only forwards."""
        if seconds < 0:
            raise ValueError("time does not run back; jump() moves the wall clock")
        self._wall += seconds
        self._steady += seconds

    def jump(self, seconds: float) -> None:
        """Set the wall clock, forwards or backwards, while no time passes."""
        self._wall += seconds
