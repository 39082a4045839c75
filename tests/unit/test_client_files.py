"""Files on their way to a server, as forms that can be written again."""

from pathlib import Path

import pytest

from penstock.client.files import PIECE_BYTES, Form


async def test_progress_is_of_the_files_and_begins_anew_with_them(tmp_path: Path) -> None:
    """A line that broke half way takes back what it had told; heads and fields do not count."""
    file = tmp_path / "a.bin"
    file.write_bytes(bytes(PIECE_BYTES + 10))
    told: list[int] = []
    form = Form("papers", [file, ("b.txt", b"four")], {"floor": 2}, told.append)
    broken = form.pieces()
    while not told:
        await anext(broken)
    await broken.aclose()

    whole = b"".join([piece async for piece in form.pieces()])

    assert told == [PIECE_BYTES, -PIECE_BYTES, PIECE_BYTES, 10, 4]
    assert whole.count(b"Content-Disposition") == 4


async def test_a_file_that_is_not_there_is_said_before_anything_is_sent(tmp_path: Path) -> None:
    """A form of it cannot be made."""
    with pytest.raises(FileNotFoundError):
        Form("papers", [tmp_path / "gone"], None)
