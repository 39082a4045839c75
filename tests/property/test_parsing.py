"""Any bytes under any name: a document whose places are true, or a refusal with a code."""

from __future__ import annotations

import asyncio
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.model.codes import CODES
from penstock.model.errors import Refused
from penstock.model.parsed import Parsed, page_at
from penstock.pipeline.parse.endings import FORMATS, LANGUAGES
from tests.support.files.packages import docx, epub_parts, packed, paragraph, pptx_parts, table, xlsx_parts
from tests.support.files.pdf import simple_pdf
from tests.support.parsing import parsers, read_bytes

ENDINGS = sorted({*FORMATS, *LANGUAGES, "", "xyz"})
ROW = '<row><c r="A1" t="s"><v>0</v></c><c r="B1" s="1"><v>45000.5</v></c></row>'
SOUND = (
    simple_pdf([["One."], ["Two."]], bookmarks=[("One", 0)]),
    docx(paragraph("Head", style="Heading1") + table([["a", "b"]]) + paragraph("Words.")),
    packed(pptx_parts([("T", ["a"]), ("U", ["b"])], notes="n")),
    packed(xlsx_parts({"A": ROW, "B": ROW}, shared=["s"])),
    packed(epub_parts(["<h1>One</h1><p>a</p>", "<p>b</p>"])),
    b"<html><h1>Top</h1><table><tr><td>a<td>b</table></html>",
    b'[{"a": "\\u00e9"}, [1, 2], "x"]',
    b"# Head\n\ntext\n\nOther\n=====\n",
    b'a,b\n"x\ny",2\n',
)


def assert_true(parsed: Parsed) -> None:
    """What every parsed document promises."""
    text = parsed.text
    assert text.strip()
    assert text.encode().decode() == text
    assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in text)
    assert [page.number for page in parsed.pages] == list(range(1, len(parsed.pages) + 1))
    if parsed.pages:
        assert parsed.pages[0].start == 0
        assert parsed.pages[-1].end == len(text)
        assert all(a.end == b.start for a, b in zip(parsed.pages, parsed.pages[1:], strict=False))
        assert page_at(parsed.pages, len(text) - 1) in range(1, len(parsed.pages) + 1)
    starts = [heading.start for heading in parsed.headings]
    assert starts == sorted(starts)
    assert all(0 <= start <= len(text) for start in starts)
    assert all(1 <= heading.level <= 6 and heading.title.strip() for heading in parsed.headings)
    assert list(parsed.cuts) == sorted(set(parsed.cuts))
    assert all(0 <= cut <= len(text) for cut in parsed.cuts)


def damaged(sound: bytes, edits: list[tuple[float, bytes]], cut: float) -> bytes:
    """A sound file with some bytes overwritten and its end cut off."""
    data = bytearray(sound)
    for place, patch in edits:
        at = int(place * len(data))
        data[at : at + len(patch)] = patch
    return bytes(data[: max(1, int(cut * len(data)))])


SHARES = st.floats(0, 1)
DAMAGED = st.builds(
    damaged,
    st.sampled_from(SOUND),
    st.lists(st.tuples(SHARES, st.binary(min_size=1, max_size=8)), max_size=4),
    st.one_of(st.just(1.0), SHARES),
)
TEXTS = st.text(max_size=400).map(lambda text: text.encode(errors="surrogatepass"))
ANYTHING = st.one_of(st.binary(min_size=1, max_size=600), TEXTS.filter(bool), DAMAGED)


@given(ANYTHING, st.sampled_from(ENDINGS), st.booleans())
def test_any_bytes_under_any_name_are_read_or_refused(data: bytes, ending: str, lenient: bool) -> None:
    """R1, R4: nothing else ever comes out of a reader."""
    assert_read_or_refused(outcome(data, f"file.{ending}", lenient=lenient))


async def test_any_bytes_are_read_or_refused_by_real_children(tmp_path: Path) -> None:
    """R2: a child goes on after whatever a few hundred files did to it."""
    examples: list[tuple[bytes, str]] = []

    @settings(max_examples=300)
    @given(ANYTHING, st.sampled_from(ENDINGS))
    def gather(data: bytes, ending: str) -> None:
        examples.append((data, ending))

    gather()
    source = tmp_path / "file"

    async with parsers(seconds=20.0) as pool:
        for data, ending in examples:
            source.write_bytes(data)
            (found,) = await asyncio.gather(pool.parse(source, f"file.{ending}"), return_exceptions=True)
            assert_read_or_refused(found)


def outcome(data: bytes, name: str, *, lenient: bool) -> Parsed | Refused:
    try:
        return read_bytes(data, name, lenient=lenient)
    except Refused as refused:
        return refused


def assert_read_or_refused(found: object) -> None:
    if isinstance(found, Refused):
        assert found.code in CODES
        assert found.message
    else:
        assert isinstance(found, Parsed)
        assert_true(found)
