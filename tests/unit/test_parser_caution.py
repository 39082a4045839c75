"""What a try in vain teaches: who waits for the next one, and for how long."""

from __future__ import annotations

from penstock.engines.parsers.caution import REMEMBERED, REST_SECONDS, Caution

LARGE, SMALL = 1_000_000, 10_000


def test_nobody_waits_before_something_was_tried_in_vain() -> None:
    """However large he is."""
    assert not Caution().advises_against(1 << 40, 0.0)


def test_who_is_as_large_as_a_slow_one_waits_for_a_while() -> None:
    """Or half as large; who is smaller does not, and after the rest nobody does."""
    caution = Caution()
    caution.was_in_vain(LARGE, 100.0)

    advice = {
        size: caution.advises_against(size, 100.1) for size in (SMALL, LARGE // 2 - 1, LARGE // 2, 2 * LARGE)
    }

    assert advice == {SMALL: False, LARGE // 2 - 1: False, LARGE // 2: True, 2 * LARGE: True}
    assert not caution.advises_against(LARGE, 100.0 + REST_SECONDS)


def test_a_size_that_was_quick_is_not_suspected() -> None:
    """Not even while files of it are slow: size tells nothing then."""
    caution = Caution()
    caution.was_in_vain(SMALL, 0.0)
    caution.was_quick(LARGE)

    assert not caution.looks_slow(LARGE)
    assert caution.looks_slow(LARGE + 1)


def test_old_lessons_are_forgotten() -> None:
    """A large file that was quick once does not excuse all others for ever."""
    caution = Caution()
    caution.was_in_vain(LARGE, 0.0)
    caution.was_quick(10 * LARGE)
    for _ in range(REMEMBERED):
        caution.was_quick(SMALL)

    assert caution.looks_slow(LARGE)
