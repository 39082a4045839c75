"""Splitting: exact spans, never too long, along the text's own structure, linear in it."""

from __future__ import annotations

import random
import time
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import pytest

from penstock.engines.minilm import BundledTokenizer
from penstock.model.chunks import Chunk, Piece
from penstock.model.errors import Refused
from penstock.model.parsed import Heading, Media, Page, Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.split import split
from tests.support.splits import check
from tests.support.texts import HOSTILE, handbook, paragraph, sentence

TOKENIZER = BundledTokenizer()
RECIPE = Recipe(model="m")


def chunks(parsed: Parsed, recipe: Recipe = RECIPE) -> list[tuple[Chunk, Piece]]:
    return list(split(parsed, recipe, TOKENIZER))


def texts(parsed: Parsed, recipe: Recipe = RECIPE) -> list[str]:
    return [parsed.text[chunk.start : chunk.end] for chunk, _ in chunks(parsed, recipe)]


def plain(text: str) -> Parsed:
    return Parsed(text=text, media=Media.TEXT)


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_split_whole_and_exactly(name: str) -> None:
    """Whatever the text holds: spans exact, nothing lost, no chunk over the limit, ids those of the text."""
    parsed = plain(HOSTILE[name])

    check(parsed, chunks(parsed), RECIPE, TOKENIZER)


@pytest.mark.parametrize("name", HOSTILE)
def test_time_grows_as_the_text_does(name: str) -> None:
    """Four times the text takes about four times as long, not sixteen."""
    text = HOSTILE[name]
    quarter = plain(text[: len(text) // 4])
    chunks(quarter)

    def spent(parsed: Parsed) -> float:
        begin = time.thread_time()
        chunks(parsed)
        return time.thread_time() - begin

    small = min(spent(quarter) for _ in range(3))
    assert min(spent(plain(text)) for _ in range(2)) < 10 * small + 0.05


def test_memory_is_that_of_a_window_not_of_the_text() -> None:
    """A long text is tokenised in windows: reading its chunks one by one holds little."""
    parsed = plain(paragraph(random.Random(1)) * 2_000)
    iterator = split(parsed, RECIPE, TOKENIZER)
    next(iterator)
    tracemalloc.start()
    count = sum(1 for _ in iterator)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert count > 200
    assert peak < 12 << 20


def test_sections_stand_alone_with_their_titles_and_pages() -> None:
    """A section that fits is one chunk, knows the titles above it and the pages it lies on."""
    parsed = handbook(7, sections=8, paragraphs=2)
    found = chunks(parsed)
    check(parsed, found, RECIPE, TOKENIZER)
    starts = {heading.start for heading in parsed.headings}

    assert starts <= {chunk.start for chunk, _ in found}
    (sixth,) = (chunk for chunk, _ in found if chunk.start == parsed.headings[5].start)
    assert sixth.headings == ("Chapter 4", "Section 5")
    assert sixth.page_first == sixth.start // 1500 + 1
    assert sixth.page_last == (sixth.end - 1) // 1500 + 1


def test_small_sections_join_and_share_what_is_above_both() -> None:
    """Crumbs become one chunk whose titles are those all of it lies under."""
    text = "# Top\n\n## One\nyes\n\n## Two\nno\n"
    headings = (
        Heading(level=1, title="Top", start=0),
        Heading(level=2, title="One", start=text.index("## One")),
        Heading(level=2, title="Two", start=text.index("## Two")),
    )
    ((chunk, piece),) = chunks(Parsed(text=text, media=Media.MARKDOWN, headings=headings))

    assert chunk.headings == ("Top",)
    assert text[chunk.start : chunk.end] == text.strip()
    assert piece.text == text.strip()


def test_titles_before_a_chunk_are_embedded_with_it() -> None:
    """What stands above a chunk leads its embedded text; what stands in it is not repeated."""
    draw = random.Random(3)
    body = " ".join(sentence(draw) for _ in range(60))
    text = f"# Gates\n\n{body}"
    parsed = Parsed(text=text, media=Media.MARKDOWN, headings=(Heading(level=1, title="Gates", start=0),))
    found = chunks(parsed)

    assert found[0][1].text.startswith("# Gates")
    assert [piece.text.partition("\n")[0] for _, piece in found[1:]] == ["Gates"] * (len(found) - 1)
    assert {chunk.headings for chunk, _ in found} == {("Gates",)}


def test_titles_too_long_for_the_model_give_way_to_the_text() -> None:
    """A lead never pushes out a word of the chunk; the nearest title stays longest."""
    body = "word " * 900
    long, near = "very " * 100, "near"
    parsed = Parsed(
        text=f"x\ny\n{body}",
        media=Media.MARKDOWN,
        headings=(Heading(level=1, title=long, start=0), Heading(level=2, title=near, start=2)),
    )
    found = chunks(parsed)

    assert all(len(piece.token_ids) <= TOKENIZER.tokens_max for _, piece in found)
    assert found[1][1].text.startswith("near\nword")


def test_definitions_are_not_torn() -> None:
    """Code is cut where a definition starts, even if the chunk could hold more."""
    function = "def f{0}(x):\n" + "    y = x + {0}\n" * 12 + "\n"
    bodies = [function.format(number) for number in range(12)]
    text = "".join(bodies)
    cuts = tuple(sum(map(len, bodies[:number])) for number in range(1, 12))
    found = texts(Parsed(text=text, media=Media.CODE, cuts=cuts, language="python"))

    assert all(piece.startswith("def f") for piece in found)


def test_prose_is_cut_between_sentences_not_at_abbreviations() -> None:
    """A sentence goes on after "e.g. this": small letters do not start one."""
    draw = random.Random(5)
    text = " ".join(f"{sentence(draw)[:-1]} e.g. {sentence(draw).lower()}" for _ in range(60))

    assert all(piece.endswith(".") and not piece.endswith("e.g.") for piece in texts(plain(text)))


def test_an_edit_moves_few_chunks() -> None:
    """One changed paragraph of a long text without headings leaves nearly all embedded texts as they were."""
    draw = random.Random(11)
    paragraphs = [paragraph(draw) for _ in range(400)]
    before = plain("\n\n".join(paragraphs))
    paragraphs[40] = "Something else entirely. " + paragraphs[41]
    after = plain("\n\n".join(paragraphs))

    known = {piece.key for _, piece in chunks(before)}
    fresh = [piece for _, piece in chunks(after) if piece.key not in known]

    assert len(known) > 100
    assert len(fresh) <= 8


def test_overlap_repeats_the_end_of_a_cut_passage_only() -> None:
    """Overlap is bounded, starts at a sentence, and never crosses a heading."""
    parsed = handbook(2, sections=6, paragraphs=10)
    recipe = replace(RECIPE, overlap_tokens=40)
    found = chunks(parsed, recipe)
    check(parsed, found, recipe, TOKENIZER)
    starts = {heading.start for heading in parsed.headings}

    overlaps = [(one, two) for (one, _), (two, _) in pairwise(found) if two.start < one.end]
    assert overlaps
    for one, two in overlaps:
        again = parsed.text[two.start : one.end]
        assert len(TOKENIZER.tokens(again).ids) <= 40
        assert not any(two.start < start < one.end for start in starts)


def test_overlap_alone_is_no_chunk() -> None:
    """Where blanks end a chunk's reach, the next one says something the last did not."""
    recipe = replace(RECIPE, chunk_tokens=16, chunk_tokens_min=0, overlap_tokens=8)
    words = f"a b c d e f g h i j {'x' * 101} {'y' * 101}"
    parsed = plain(f"{words}{' ' * 80}{words}")

    found = chunks(parsed, recipe)

    check(parsed, found, recipe, TOKENIZER)


def test_no_tail_of_a_few_words() -> None:
    """A section a little longer than the limit is shared out, not cut into a chunk and a crumb."""
    found = chunks(plain("word " * (RECIPE.chunk_tokens + 3)))

    assert [chunk.tokens for chunk, _ in found][-1] >= RECIPE.chunk_tokens_min


def test_pages_are_those_of_the_characters() -> None:
    """A chunk over a page break names both pages; the page's last character is on it."""
    text = "one two three four"
    parsed = Parsed(
        text=text,
        media=Media.PDF,
        pages=(Page(number=1, start=0, end=7), Page(number=2, start=7, end=len(text))),
    )
    ((chunk, _),) = chunks(parsed)

    assert (chunk.page_first, chunk.page_last) == (1, 2)


@pytest.mark.parametrize("text", ["", " ", "\n\n", "\u3000\u2003"])
def test_nothing_gives_no_chunk(text: str) -> None:
    """White space alone is no passage."""
    assert chunks(plain(text)) == []


def test_a_recipe_the_model_cannot_take_is_refused() -> None:
    """Longer chunks than the model takes are a configuration error, told before any work."""
    with pytest.raises(Refused, match="254 at most") as refused:
        split(plain("x"), Recipe(model="m", chunk_tokens=255), TOKENIZER)

    assert refused.value.code == "ERR_CONFIGURATION"
