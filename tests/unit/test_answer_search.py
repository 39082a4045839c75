"""Search and quotations over a real store and the bundled model."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.answer.answers import EMPTY, MORE_TO_COME, NO_MATCH, Answers
from penstock.answer.ask import Asker
from penstock.answer.scoping import Filters
from penstock.answer.search import Searcher
from penstock.model.answers import AnswerKind, Confidence, Delta, Finished, Retrieved
from penstock.model.catalogue import WorkspaceId
from penstock.model.errors import Refused
from tests.support.house import EVERYTHING, HANDBOOK, House, Model, model, open_house
from tests.support.shelves import Text

__all__ = ["model"]


@pytest.fixture
async def house(tmp_path: Path, model: Model) -> AsyncIterator[House]:
    async with open_house(tmp_path, model) as opened:
        yield opened


@pytest.fixture
async def furnished(house: House) -> House:
    await house.furnish()
    return house


async def test_the_passage_that_answers_comes_first(furnished: House) -> None:
    """Over all collections, with its page, its headings and the exact span of the stored text."""
    findings = await furnished.find("Where does the key of the cellar hang?")

    best = findings.hits[0]
    assert findings.confidence is Confidence.STRONG
    assert (best.head.document_name, best.head.headings, best.pages) == ("handbook.txt", ("Keys",), (1, 1))
    assert all(part.text == HANDBOOK[part.start : part.end] for part in best.parts)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(collections=("kitchen",)), {"menu.txt"}),
        (Filters(collections=("kitchen", "rules")), {"menu.txt", "handbook.txt", "gate.txt"}),
        (Filters(path="/docs/house"), {"handbook.txt", "gate.txt"}),
        (Filters(path="/docs/house/gate.txt"), {"gate.txt"}),
        (Filters(path="/docs/hou"), set()),
        (Filters(metadata={"year": 2024}), {"handbook.txt"}),
        (Filters(metadata={"year": 2024, "language": "de"}), set()),
        (Filters(collections=("kitchen",), metadata={"year": 2024}), set()),
    ],
)
async def test_filters_leave_only_what_they_name(
    furnished: House, filters: Filters, expected: set[str]
) -> None:
    """Collections, a folder or a file, and metadata, each alone and together."""
    findings = await furnished.find("Fridays at the gate", filters)

    assert {hit.head.document_name for hit in findings.hits} == expected
    assert (NO_MATCH in findings.notes) == (not expected)


async def test_one_document_may_be_asked(furnished: House) -> None:
    """By its id; one that is not there is refused."""
    (hit, *_) = (await furnished.find("When is the gate shut?")).hits
    only = await furnished.find("Fridays", Filters(documents=(hit.head.document,)))

    assert {each.head.document_name for each in only.hits} == {"gate.txt"}
    with pytest.raises(Refused) as refused:
        await furnished.find("Fridays", Filters(documents=(type(hit.head.document)("nobody"),)))
    assert refused.value.code == "ERR_DOCUMENT_UNKNOWN"


async def test_an_unknown_collection_is_refused_with_those_there_are(furnished: House) -> None:
    """The message names what could have been meant."""
    with pytest.raises(Refused, match="'cellar'; there are kitchen, rules") as refused:
        await furnished.find("keys", Filters(collections=("rules", "cellar")))

    assert refused.value.code == "ERR_COLLECTION_UNKNOWN"


async def test_a_deleted_document_vanishes_at_once(furnished: House) -> None:
    """The next search no longer knows it, and says that it found nothing."""
    question = "Where does the key of the cellar hang?"
    handbook = (await furnished.find(question)).hits[0].head.document
    await furnished.librarian.hide(handbook)

    findings = await furnished.find(question)

    assert "handbook.txt" not in {hit.head.document_name for hit in findings.hits}
    assert findings.confidence is not Confidence.STRONG


async def test_a_document_replaced_in_the_midst_of_a_search_is_found(
    furnished: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its old chunks are gone when they are read; the search finds the new ones instead of nothing."""
    rules = await furnished.librarian.declare("rules")
    index = furnished.store.index
    original, asked = index.candidates, []

    async def candidates(*given: Any, **chosen: Any) -> Any:
        found = await original(*given, **chosen)
        asked.append(found)
        if len(asked) == 1:
            changed = Text(path="/docs/house/handbook.txt", text=f"{HANDBOOK}\nAnd that is all.")
            await furnished.librarian.put(rules, changed)
        return found

    monkeypatch.setattr(index, "candidates", candidates)
    findings = await furnished.find("Where does the key of the cellar hang?")

    assert findings.hits[0].head.document_name == "handbook.txt"
    assert len(asked) == 2


async def test_a_half_built_version_is_not_there(house: House) -> None:
    """Chunks that are written and not yet published answer nobody."""
    rules = await house.librarian.declare("rules")
    await house.librarian.put(rules, Text(path="/docs/handbook.txt", text=HANDBOOK), publish=False)

    findings = await house.find("Where does the key of the cellar hang?")

    assert (findings.hits, findings.confidence) == ((), Confidence.NONE)


async def test_an_empty_store_says_what_to_do_next(house: House) -> None:
    """Neither a store without collections nor an empty collection leaves a person at a loss."""
    bare = await house.find("anything?")
    await house.librarian.declare("rules")
    empty = await house.find("anything?")

    assert bare.notes == empty.notes == (EMPTY,)


async def test_another_workspace_finds_nothing(furnished: House) -> None:
    """What belongs to a workspace is not there for another."""
    stranger = Answers(
        furnished.store.catalogue,
        WorkspaceId("00000000-0000-4000-8000-00000000000f"),
        searcher=Searcher(furnished.store.index, [furnished.reader]),
        asker=Asker(Searcher(furnished.store.index, [furnished.reader]), reader=None),
    )

    assert (await stranger.search(EVERYTHING, "Where does the cellar key hang?")).hits == ()


@pytest.mark.parametrize(
    "question",
    [
        'cellar" OR key:* NEAR(',
        "AND OR NOT",
        "lead: text: *",
        "\x00key\x00",
        "🔑 key",
        "клавиша",
        "鍵",
        "a" * 9000,
    ],
)
async def test_any_question_is_searched_for_without_error(furnished: House, question: str) -> None:
    """Operators, emoji, other scripts and a word without an end find something or nothing."""
    findings = await furnished.find(question)

    assert findings.confidence in Confidence


async def test_a_long_question_says_that_only_its_beginning_was_compared(furnished: House) -> None:
    """The model's length is no secret, and no error."""
    findings = await furnished.find("Where does the cellar key hang, and " + "why is that so, " * 200)

    assert any("beginning of the question" in note for note in findings.notes)
    assert findings.hits


async def test_vectors_of_a_model_that_is_not_configured_leave_words(house: House) -> None:
    """Such a collection is searched by words alone, and the findings say so."""
    foreign = await house.librarian.declare("foreign", model="another-model")
    await house.librarian.put(foreign, Text(path="/docs/handbook.txt", text=HANDBOOK))

    findings = await house.find("cellar key kitchen door")

    assert findings.hits[0].head.document_name == "handbook.txt"
    assert any("another-model" in note for note in findings.notes)


async def test_neighbouring_chunks_are_shown_as_one_stretch(house: House) -> None:
    """One hit with exact parts, where both halves of a paragraph were found."""
    text = " ".join(
        f"The cellar key number {at} hangs behind the kitchen door, on hook {at}." for at in range(12)
    )
    await house.librarian.put(await house.librarian.declare("rules"), Text(path="/docs/keys.txt", text=text))

    (hit, *_) = (await house.find("Where do the cellar keys hang?")).hits

    assert len({part.chunk for part in hit.parts}) >= 1
    assert hit.end - hit.start > 200
    assert all(part.text == text[part.start : part.end] for part in hit.parts)


async def test_asking_quotes_the_sentence_that_answers(furnished: House) -> None:
    """Told in order: what was retrieved, the words, the whole; every quote stands in the stored text."""
    tellings = [each async for each in furnished.answers.ask(EVERYTHING, "What does a lost key cost?")]

    assert isinstance(tellings[0], Retrieved)
    assert isinstance(tellings[-1], Finished)
    answer = tellings[-1].answer
    assert "".join(each.text for each in tellings if isinstance(each, Delta)) == answer.text
    assert answer.kind is AnswerKind.EXTRACTIVE
    assert "forty crowns" in answer.citations[0].quotes[0].text
    assert all(quote.text == HANDBOOK[quote.start : quote.end] for quote in answer.citations[0].quotes)


async def test_asking_for_something_else_is_not_found(furnished: House) -> None:
    """A question the documents do not speak of gets no quotation."""
    tellings = [
        each async for each in furnished.answers.ask(EVERYTHING, "Who won the 1954 world cup in Bern?")
    ]

    assert isinstance(tellings[-1], Finished)
    assert (tellings[-1].answer.kind, tellings[-1].answer.citations) == (AnswerKind.NOT_FOUND, ())


async def test_an_answer_in_doubt_tells_of_documents_on_the_way(furnished: House) -> None:
    """What was handed in a moment ago may hold what was not found; a sure answer needs no such word."""
    rules = await furnished.librarian.declare("rules")
    await furnished.librarian.put(rules, Text(path="/docs/cup.txt", text="Germany won."), publish=False)

    async def notes(question: str) -> tuple[str, ...]:
        tellings = [each async for each in furnished.answers.ask(EVERYTHING, question)]
        assert isinstance(tellings[-1], Finished)
        return tellings[-1].answer.notes

    told = MORE_TO_COME.format(count=1)
    assert told in await notes("Who won the 1954 world cup in Bern?")
    assert told not in await notes("What does a lost key cost?")
