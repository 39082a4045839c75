"""A quotation is cited by its own page and headings, not by those of the chunk it was found in."""

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.answer.answers import Answers
from penstock.answer.ask import Asker
from penstock.answer.places import Places
from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.disk.moving import DiskMover
from penstock.intake.incoming import SourceFolders
from penstock.intake.whereabouts import Whereabouts
from penstock.model.answers import Citation, Finished
from penstock.model.catalogue import LOCAL_WORKSPACE, BlobId, KeptParse
from penstock.model.parsed import Heading, Media, Page, Parsed
from penstock.ports.codec import encode_parsed
from tests.support.house import EVERYTHING, House, Model, model, open_house
from tests.support.shelves import Text

__all__ = ["model"]

GARDEN = (
    "Garden\n\nIt lies behind the house.\n\nRoses\n\nRoses need water in summer.\n\n"
    "Tulips\n\nTulips need none."
)
TITLES = (("Garden", 1), ("Roses", 2), ("Tulips", 2))
HEADINGS = tuple(
    Heading(level=level, title=title, start=GARDEN.index(f"{title}\n")) for title, level in TITLES
)
STARTS = [each.start for each in HEADINGS]
PAGES = tuple(
    Page(number=number, start=start, end=end)
    for number, (start, end) in enumerate(zip(STARTS, [*STARTS[1:], len(GARDEN)], strict=True), start=1)
)
PARSED = Parsed(text=GARDEN, media=Media.TEXT, headings=HEADINGS, pages=PAGES)


@pytest.fixture
async def house(tmp_path: Path, model: Model) -> AsyncIterator[House]:
    """A house whose only document has a chunk of several pages."""
    async with open_house(tmp_path / "store", model) as opened:
        collection = await opened.librarian.declare("outside")
        text = Text(path="/docs/garden.txt", text=GARDEN, headings=HEADINGS, pages=PAGES)
        await opened.librarian.put(collection, text)
        yield opened


async def keep(house: House, blobs: DiskBlobs, parsed: Parsed) -> None:
    result = await blobs.put_bytes(encode_parsed(parsed))
    blob = BlobId(sha256(GARDEN.encode()).hexdigest())
    kept = KeptParse(blob=blob, parser="1:txt", result=BlobId(result.hash))
    await house.store.write(lambda tx: tx.kept.keep_parse(kept))


def answers_of(house: House, blobs: DiskBlobs, whereabouts: Whereabouts | None = None) -> Answers:
    catalogue, asker = house.store.catalogue, Asker(house.searcher, reader=house.reader)
    places = Places(catalogue, LOCAL_WORKSPACE, blobs, whereabouts)
    return Answers(catalogue, LOCAL_WORKSPACE, searcher=house.searcher, asker=asker, places=places)


async def cited(house: House, blobs: DiskBlobs, question: str) -> Citation:
    return await cited_by(answers_of(house, blobs), question)


async def cited_by(answers: Answers, question: str) -> Citation:
    *_, finished = [telling async for telling in answers.ask(EVERYTHING, question)]
    assert isinstance(finished, Finished)
    return finished.answer.citations[0]


async def test_a_quotation_is_cited_by_its_own_page_and_headings(house: House, tmp_path: Path) -> None:
    """A chunk of several pages and sections does not blur where the sentence stands."""
    blobs = DiskBlobs(tmp_path / "blobs")
    await keep(house, blobs, PARSED)

    citation = await cited(house, blobs, "what do roses need in summer?")

    assert citation.label == 'garden.txt, page 2, "Garden > Roses"'
    assert [(each.page_first, each.page_last) for each in citation.quotes] == [(2, 2)]
    assert GARDEN[citation.quotes[0].start : citation.quotes[0].end] == "Roses need water in summer."


async def test_the_chunks_place_stays_where_no_parse_can_be_read(house: House, tmp_path: Path) -> None:
    """Not kept, its bytes gone, or the parse of another text: the answer stands, with the coarser place."""
    blobs = DiskBlobs(tmp_path / "blobs")
    question = "what do roses need in summer?"
    coarse = 'garden.txt, pages 1-2, "Garden"'

    assert (await cited(house, blobs, question)).label == coarse
    await keep(house, blobs, Parsed(text=f"> {GARDEN}", media=Media.TEXT, headings=HEADINGS, pages=PAGES))
    assert (await cited(house, blobs, question)).label == coarse
    assert (await cited(house, DiskBlobs(tmp_path / "gone"), question)).label == coarse


async def test_a_file_that_was_moved_is_named_where_it_lies_now(tmp_path: Path, model: Model) -> None:
    """Known by its bytes among others of the name, told by its name alone when it has left, never guessed."""
    folders = SourceFolders(root=tmp_path / "sources")
    incoming, processed, _ = folders.all("outside")
    dropped, moved = incoming / "garden.txt", processed / "garden (2).txt"
    for folder in (incoming, processed):
        folder.mkdir(parents=True)
    async with open_house(tmp_path / "store", model) as house:
        await house.librarian.put(
            await house.librarian.declare("outside"), Text(path=str(dropped), text=GARDEN)
        )
        answers = answers_of(house, DiskBlobs(tmp_path / "blobs"), Whereabouts(folders, DiskMover()))

        async def told() -> str:
            question = "what do roses need in summer?"
            findings, citation = await answers.search(EVERYTHING, question), await cited_by(answers, question)
            assert findings.hits[0].head.identity == citation.identity
            return citation.identity

        dropped.write_text(GARDEN)
        assert await told() == str(dropped)
        (processed / "garden.txt").write_text("An older garden.")
        dropped.rename(moved)
        assert await told() == str(moved)
        moved.unlink()
        assert await told() == "garden.txt"
