"""`penstock search` and `penstock ask`, run as people and programs run them, over a filled store."""

import asyncio
from pathlib import Path

import pytest

from penstock.doors.answer_shapes import Answered, Found
from penstock.engines.minilm import BundledEmbedder, BundledTokenizer
from penstock.settings import load
from penstock.wiring.store import open_store
from tests.support.command_line import Program
from tests.support.documents import deviations
from tests.support.endpoint import FakeEndpoint, fake_endpoint, refusal, streamed
from tests.support.house import HANDBOOK, House
from tests.support.shelves import Librarian

# The store is filled once, so the tests that read it stay together.
pytestmark = pytest.mark.xdist_group("house")

QUESTION = "What does a lost key cost?"
ELSEWHERE = "Who won the 1954 world cup in Bern?"


async def furnish(data: Path) -> None:
    tokenizer = BundledTokenizer()
    embedder = BundledEmbedder(tokenizer)
    async with open_store(load(None, {}, {"data": str(data)})) as store:
        await House.furnish_with(Librarian(store, embedder, tokenizer))
    await embedder.close()


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program on a store that only these tests read."""
    program = Program(tmp_path_factory.mktemp("house"))
    asyncio.run(furnish(program.data))
    return program


def test_search_keeps_the_shape_it_promises(furnished: Program) -> None:
    """The document holds exact spans, pages and headings, best first."""
    found = furnished.json("search", QUESTION, "--top", "2")

    assert deviations(found, Found) == []
    best = found["hits"][0]
    assert (found["found"], found["confidence"], len(found["hits"])) == (True, "strong", 2)
    assert (best["document"], best["page_first"], best["headings"]) == ("handbook.txt", 1, ["Keys"])
    assert all(HANDBOOK[span["start"] : span["end"]] == span["text"] for span in best["spans"])


def test_ask_keeps_the_shape_it_promises(furnished: Program) -> None:
    """The answer quotes, cites by number, and says that no language model wrote it."""
    answered = furnished.json("ask", QUESTION)

    assert deviations(answered, Answered) == []
    assert (answered["kind"], answered["found"], answered["model"]) == ("extractive", True, None)
    (quote, *_) = answered["citations"][0]["quotes"]
    assert HANDBOOK[quote["start"] : quote["end"]] == quote["text"]
    assert "no language model" in answered["notes"][0]


def test_not_found_is_no_failure(furnished: Program) -> None:
    """It ends with 0; the document's flag and the words tell."""
    as_json, plain = furnished("ask", ELSEWHERE, "--json"), furnished("ask", ELSEWHERE)

    assert (as_json.said()["found"], as_json.said()["kind"]) == (False, "not_found")
    assert (plain.code, plain.out) == (0, "Not found in your documents.\n")


def test_piped_data_and_talk_stay_apart(furnished: Program) -> None:
    """stdout holds the answer and its sources, stderr what a person should know."""
    ran = furnished("ask", QUESTION)

    assert ran.code == 0
    assert '[1]\thandbook.txt, page 1, "Keys"\trules\t' in ran.out
    assert "note: The best passages, quoted" in ran.err
    assert "note:" not in ran.out


def test_search_piped_is_a_line_a_hit(furnished: Program) -> None:
    """Eight cells, whatever line ends the passage holds."""
    ran = furnished("search", QUESTION)

    assert all(len(cells) == 8 for cells in ran.cells)
    assert ran.cells[0][4] == 'handbook.txt, page 1, "Keys"'


def test_on_a_terminal_sources_stand_below_the_answer(furnished: Program) -> None:
    """What a person sees: the quotation, then its place."""
    ran = furnished.on_terminal("ask", QUESTION, columns=80)

    assert ran.code == 0
    assert ran.out.index("forty crowns") < ran.out.index('[1] handbook.txt, page 1, "Keys"')


def test_filters_narrow_the_search(furnished: Program) -> None:
    """Collection, metadata and path, each from the command line."""
    by_collection = furnished.json("search", "Fridays", "--rag", "kitchen")
    by_metadata = furnished.json("search", "Fridays", "--meta", "year=2024")
    by_path = furnished.json("search", "Fridays", "--path", "/docs/house")

    assert {hit["document"] for hit in by_collection["hits"]} == {"menu.txt"}
    assert {hit["document"] for hit in by_metadata["hits"]} == {"handbook.txt"}
    assert {hit["document"] for hit in by_path["hits"]} == {"handbook.txt", "gate.txt"}


def test_a_question_may_come_on_stdin_and_without_quotes(furnished: Program) -> None:
    """Words of an unquoted question belong together; `-` reads them."""
    piped = furnished.json("ask", "-", stdin=QUESTION)
    unquoted = furnished.json("ask", *QUESTION.split())

    assert piped["text"] == unquoted["text"]


@pytest.mark.parametrize(
    ("words", "stdin", "code"),
    [
        (("search", "?!"), "", "ERR_QUERY_INVALID"),
        (("search", ""), "", "ERR_QUERY_INVALID"),
        (("ask", "-"), "why " * 262_144, "ERR_QUERY_INVALID"),
        (("ask", "-"), "\x00", "ERR_QUERY_INVALID"),
        (("ask", "keys", "--rag", "attic"), "", "ERR_COLLECTION_UNKNOWN"),
        (("ask", "keys", "--document", "nobody"), "", "ERR_DOCUMENT_UNKNOWN"),
        (("ask", "keys", "--meta", "year"), "", "ERR_REFUSED"),
        (("search", "keys", "--top", "0"), "", "ERR_REFUSED"),
        (("search",), "", "ERR_REFUSED"),
    ],
)
def test_a_bad_question_is_told_what_is_wrong(
    furnished: Program, words: tuple[str, ...], stdin: str, code: str
) -> None:
    """The request is wrong: 1, a code, and a message for people."""
    ran = furnished(*words, "--json", stdin=stdin)

    assert (ran.code, ran.error["code"], ran.out) == (1, code, "")


@pytest.mark.parametrize(
    "question", ['cel"lar OR NEAR(key', "клавиша", "鍵はどこ", "🔑 key", "lead:*", "x\x01\x1b[31my"]
)
def test_odd_questions_are_searched_for(furnished: Program, question: str) -> None:
    """Operators, other scripts, emoji and control characters are words or nothing."""
    assert furnished("search", question, "--json").code == 0


def test_an_empty_store_says_what_to_do_next(program: Program) -> None:
    """It ends with 0 and names the command that puts documents in."""
    program.begin()

    ran = program("ask", "anything at all?")

    assert (ran.code, ran.out) == (0, "Not found in your documents.\n")
    assert "penstock ingest submit" in ran.err
    assert "penstock" not in program("ask", "anything at all?", "--json").out


def named(endpoint: FakeEndpoint) -> dict[str, str]:
    return {
        "PENSTOCK_ANSWERER": endpoint.url,
        "PENSTOCK_ANSWERING_MODEL": "fake",
        "PENSTOCK_ANSWERING_API_KEY": "sesame",
    }


def test_an_endpoint_writes_and_its_citations_are_checked(furnished: Program) -> None:
    """Its words come with the sources they cite; a number it made up is taken out and told."""
    with fake_endpoint(streamed(["It costs forty ", "crowns [", "1][5", "5]."])) as endpoint:
        ran = furnished("ask", QUESTION, env=named(endpoint))

    assert ran.code == 0
    assert ran.out.startswith("It costs forty crowns [1].\n")
    assert '[1]\thandbook.txt, page 1, "Keys"' in ran.out
    assert "55" in ran.err
    assert "forty crowns, which the house keeps" in endpoint.requests[0].body["messages"][-1]["content"]


def test_a_failing_endpoint_is_an_error_that_offers_quotations(furnished: Program) -> None:
    """It ends with 4, never shows the key, and names the way without a language model."""
    with fake_endpoint(refusal(503)) as endpoint:
        ran = furnished("ask", QUESTION, "--json", env=named(endpoint))

    assert (ran.code, ran.out) == (4, "")
    assert ran.error["code"].startswith("ERR_ANSWERER_")
    assert any("--quote" in each for each in ran.error["suggestions"])
    assert "sesame" not in ran.err


def test_quotations_need_no_endpoint(furnished: Program) -> None:
    """With --quote the configured endpoint is left alone."""
    with fake_endpoint() as endpoint:
        answered = furnished("ask", QUESTION, "--quote", "--json", env=named(endpoint)).said()

    assert (answered["kind"], endpoint.requests) == ("extractive", [])
