"""The answer without a language model: exact quotations, honestly labelled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.answer.extract import QUOTED_ONLY, QUOTES_MAX, WEAK, extracted
from penstock.answer.words import content_words
from penstock.model.answers import NOT_FOUND, AnswerKind, Confidence, Quote
from tests.support.passages import a_hit, a_passage, some_findings

HANDBOOK = (
    "Visitors sign the book at the gate. The cellar key hangs behind the kitchen door.\n"
    "It must be back by ten. Bicycles are kept in the yard."
)
LETTER = "Dear Ann, the cellar key hangs behind the kitchen door, as ever. The weather is fine."


async def test_the_sentences_that_speak_of_the_question_are_quoted_exactly() -> None:
    """Each quotation is the stored text's own span, and its citation says where it stands."""
    hit = a_hit(a_passage(HANDBOOK, start=500, headings=("Rooms", "Keys"), page=12))

    answer = await extracted(some_findings("Where does the cellar key hang?", hit), None)

    (citation,) = answer.citations
    assert [(each.text, each.start) for each in citation.quotes] == [
        ("The cellar key hangs behind the kitchen door.", 536)
    ]
    assert answer.text == "\u201cThe cellar key hangs behind the kitchen door.\u201d [1]"
    assert citation.label == 'handbook.pdf, page 12, "Rooms > Keys"'


async def test_several_documents_are_cited_in_the_order_of_their_worth() -> None:
    """Two sources that say the same are two numbered citations."""
    letter = a_hit(a_passage(LETTER, document="letter"))
    handbook = a_hit(a_passage(HANDBOOK))

    answer = await extracted(some_findings("Where does the cellar key hang?", letter, handbook), None)

    assert [citation.document for citation in answer.citations] == ["letter", "handbook"]
    assert [citation.number for citation in answer.citations] == [1, 2]


async def test_neighbouring_sentences_are_one_quotation() -> None:
    """What stands together in the text is quoted together, line end and all."""
    hit = a_hit(a_passage("The cellar key is blue.\nThe cellar key is small. Bread is in the oven."))

    answer = await extracted(some_findings("What of the cellar key?", hit), None)

    assert [each.text for each in answer.citations[0].quotes] == [
        "The cellar key is blue.\nThe cellar key is small."
    ]


async def test_it_says_that_no_language_model_wrote_it() -> None:
    """The label is part of the answer, and so is weak evidence."""
    hit = a_hit(a_passage(HANDBOOK))
    findings = some_findings("cellar key", hit, confidence=Confidence.WEAK, notes=("A note.",))

    answer = await extracted(findings, None)

    assert answer.kind is AnswerKind.EXTRACTIVE
    assert answer.notes == (QUOTED_ONLY, WEAK, "A note.")


async def test_nothing_above_the_floor_is_not_found() -> None:
    """Where nothing speaks of the question, nothing is quoted."""
    hit = a_hit(a_passage(HANDBOOK))

    answer = await extracted(some_findings("Who won in 1954?", hit, confidence=Confidence.NONE), None)

    assert (answer.kind, answer.text, answer.citations) == (AnswerKind.NOT_FOUND, NOT_FOUND, ())


async def test_headings_are_quoted_only_where_there_is_nothing_else() -> None:
    """A short line that repeats the question's words is no answer to it."""
    hit = a_hit(a_passage("Cellar key\n\nThe cellar key hangs behind the kitchen door."))

    answer = await extracted(some_findings("cellar key", hit), None)

    assert "hangs behind" in answer.citations[0].quotes[0].text


async def test_a_sentence_that_asks_the_same_is_no_answer() -> None:
    """A document that holds the question itself is nearest of all, and something else is quoted."""
    guide = a_hit(a_passage("Ask it: where does the cellar key hang? Try this one first."))
    handbook = a_hit(a_passage(HANDBOOK))

    answer = await extracted(some_findings("Where does the cellar key hang?", guide, handbook), None)

    assert "behind the kitchen door" in answer.text
    assert "Ask it" not in answer.text


async def test_a_note_that_says_no_more_than_the_words_typed_is_shown() -> None:
    """Passing it over for a sentence about something else would be an answer to nothing."""
    note = a_hit(a_passage("Opening hours", document="note"))
    other = a_hit(a_passage("Cats sleep all day.", document="cats"))

    answer = await extracted(some_findings("opening hours", note, other), None)

    assert [citation.document for citation in answer.citations] == ["note"]
    assert answer.text == "\u201cOpening hours\u201d [1]"


FAQ = (
    "# Questions\n\n## How is the printer reset?\n\nHold the green button down.\n\n## Where is tea?\n\nHere."
)


@pytest.mark.parametrize(
    "question", ["How is the printer reset?", "how is the printer reset", "printer reset"]
)
async def test_a_heading_that_asks_is_not_its_own_answer(question: str) -> None:
    """With or without its mark, what was typed is not quoted back from the heading it stands in."""
    answer = await extracted(some_findings(question, a_hit(a_passage(FAQ))), None)

    assert answer.text == "\u201cHold the green button down.\u201d [1]"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("what colour is the attic?", "The attic is blue."),
        ("is the attic blue?", "The attic is blue."),
        ("zebras in Kenya", "Zebras in Kenya are striped and numerous."),
        ("colour of the attic", "Attic: blue"),
        ("when is tea", "Tea is at five"),
    ],
)
async def test_a_short_sentence_of_the_best_hit_is_quoted(question: str, text: str) -> None:
    """Neither few words nor the very words that were typed make a sentence worthless."""
    others = "What a colour is, tea at what time, and zebras anywhere: nobody here can tell you that."
    hits = [a_hit(a_passage(text, document="note")), a_hit(a_passage(others, document="talk"))]

    answer = await extracted(some_findings(question, *hits), None)

    assert answer.citations[0].document == "note"
    assert answer.citations[0].quotes[0].text == text


async def test_the_best_hit_wins_over_a_sentence_that_looks_as_good() -> None:
    """The search has read whole passages: a sentence far down must be clearly better to be quoted."""
    best = a_hit(a_passage("The cellar is locked at ten.", document="rules"))
    between = [a_hit(a_passage(f"Nothing of it in paper {at}.", document=f"d{at}")) for at in range(3)]
    last = a_hit(a_passage("A cellar is mentioned here too.", document="aside"))

    answer = await extracted(some_findings("the cellar in winter", best, *between, last), None)

    assert [citation.document for citation in answer.citations] == ["rules"]


async def test_rows_are_quoted_whole_or_not_at_all() -> None:
    """A row of a table keeps its full stops; one that a passage's end cut off is passed over."""
    text = "| cellar key lost | Ask Ann. She has one. |\n|---|---|\n| cellar key bent | Ask"
    answer = await extracted(some_findings("cellar key", a_hit(a_passage(text))), None)

    assert [each.text for each in answer.citations[0].quotes] == [
        "| cellar key lost | Ask Ann. She has one. |"
    ]


async def test_a_heading_does_not_stick_to_its_paragraph() -> None:
    """What is quoted is the paragraph alone."""
    hit = a_hit(a_passage("# Tea in the house\nTea is at five\n## Roses\nThey are red."))

    answer = await extracted(some_findings("when is tea?", hit), None)

    assert [each.text for each in answer.citations[0].quotes] == ["Tea is at five"]


async def test_what_is_read_is_bounded() -> None:
    """A hit of thousands of sentences costs no more than a few dozen, and the telling one is among them."""
    text = "Nothing is said here at all, truly. " * 3000 + "The cellar key hangs behind the door."

    answer = await extracted(some_findings("Where does the cellar key hang?", a_hit(a_passage(text))), None)

    assert answer.citations[0].quotes[0].text == "The cellar key hangs behind the door."


words = st.lists(st.sampled_from(["key", "cellar", "door", "tea", ".", "\n\n", "!", "- "]), max_size=60).map(
    " ".join
)


@given(st.lists(words.filter(str.strip), min_size=1, max_size=4))
async def test_every_quotation_is_exact(texts: list[str]) -> None:
    """Whatever the passages hold, what is quoted stands there, word for word, at that place."""
    hits = [a_hit(a_passage(text, document=f"d{at}", start=at * 7)) for at, text in enumerate(texts)]

    answer = await extracted(some_findings("cellar key", *hits), None)

    by_document = {f"d{at}": (text, at * 7) for at, text in enumerate(texts)}
    quotes = [(citation.document, quote) for citation in answer.citations for quote in citation.quotes]
    assert 0 < len(quotes) <= QUOTES_MAX
    assert all(is_exact(quote, *by_document[document]) for document, quote in quotes)
    assert content_words("cellar key") == {"cellar", "key"}


def is_exact(quote: Quote, text: str, start: int) -> bool:
    return text[quote.start - start : quote.end - start] == quote.text != ""
