"""How a frame is written into a stream of Server-Sent Events."""

from penstock.doors.live.frames import word_frame
from penstock.doors.live.stream import block_of


def test_ends_of_lines_that_only_unicode_knows_stay_within_the_data() -> None:
    """A stream's reader splits at CR and LF alone; what was split elsewhere would be half a JSON to it."""
    name = "a\u2028b\u2029c\u0085d\x0be\rf\ng"

    block = block_of(word_frame("closed", code=1000, reason=name)).decode()

    data, *rest = block.replace("\r", "\n").split("\n")
    assert rest == ["", ""]
    assert data.startswith("data: {")
    assert "\u2028" in data
