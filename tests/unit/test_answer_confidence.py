"""How sure a search is: strong, weak, or not found."""

import pytest

from penstock.answer.confidence import evidence_of, judged, keywords_stand
from penstock.answer.words import content_words, coverage
from penstock.model.answers import Confidence, Evidence
from penstock.model.catalogue import GenerationId
from penstock.model.passages import Candidate, Candidates
from tests.support.passages import a_hit, a_passage

RANK = {Confidence.NONE: 0, Confidence.WEAK: 1, Confidence.STRONG: 2}


def a_leg(*chunks: int, score: float = 0.5) -> tuple[Candidate, ...]:
    return tuple(Candidate(chunk=chunk, score=score) for chunk in chunks)


@pytest.mark.parametrize(
    ("cosine", "covered", "agreement", "grade"),
    [
        (0.70, 0.8, 0.4, Confidence.STRONG),
        (0.45, 0.5, 0.1, Confidence.WEAK),
        (0.25, 0.25, 0.0, Confidence.NONE),
        (0.10, 1.0, 0.1, Confidence.WEAK),  # the words are all there, the sense is not near
        (0.55, 0.0, 0.0, Confidence.NONE),  # near, and not one word of it
    ],
)
def test_signs_are_weighed_together(
    cosine: float, covered: float, agreement: float, grade: Confidence
) -> None:
    """No single sign makes an answer."""
    evidence = Evidence(cosine=cosine, coverage=covered, agreement=agreement)

    assert judged(evidence, measured=True) is grade


@pytest.mark.parametrize("measured", [True, False])
def test_more_of_a_sign_never_makes_less_sure(measured: bool) -> None:
    """The grade rises with each sign, whichever gauge is used."""
    steps = [at / 10 for at in range(11)]
    for name in ("cosine", "coverage", "agreement"):
        signs = {"cosine": 0.4, "coverage": 0.4, "agreement": 0.2}
        grades = [RANK[judged(Evidence(**{**signs, name: step}), measured=measured)] for step in steps]

        assert grades == sorted(grades)


def test_cosines_nobody_measured_do_not_count() -> None:
    """A model that calls everything near is judged by the words alone."""
    evidence = Evidence(cosine=0.99, coverage=0.1, agreement=0.0)

    assert judged(evidence, measured=False) is Confidence.NONE


def test_without_vectors_words_decide() -> None:
    """A search by words alone can still be sure, if all of them are there."""
    assert judged(Evidence(cosine=None, coverage=1.0, agreement=0.0), measured=True) is Confidence.STRONG


def test_evidence_is_what_legs_and_hits_say() -> None:
    """The nearest cosine, the words of one hit and its title, and the chunks both legs found."""
    found = Candidates(generation=GenerationId(1), dense=a_leg(1, 2, 3), lexical=a_leg(3, 1, 9))
    hits = [
        a_hit(a_passage("Nothing of the kind.")),
        a_hit(a_passage("They hang by the door.", title="Keys of the house")),
    ]

    evidence = evidence_of("Where do the house keys hang at night?", [found], hits)

    assert evidence == Evidence(cosine=0.5, coverage=0.75, agreement=0.2)


def test_nothing_found_is_no_evidence() -> None:
    """An empty collection gives nothing to be sure of."""
    evidence = evidence_of("keys?", [], [])

    assert evidence == Evidence(cosine=None, coverage=0.0, agreement=0.0)
    assert judged(evidence, measured=True) is Confidence.NONE


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("heated surfaces", "the heating of a surface"),
        ("Überprüfung", "die uberprufung folgt"),
        ("studies of policy", "a study of policies"),
        ("鍵はどこ", "玄関に鍵はどこにもない"),
    ],
)
def test_forms_of_a_word_meet(question: str, text: str) -> None:
    """Endings, accents and missing spaces do not hide that two texts share their words."""
    assert coverage(content_words(question), text) == 1.0


def test_a_question_of_common_words_is_taken_by_them() -> None:
    """Where no word tells anything, all of them count rather than none."""
    assert content_words("who are you") == {"who", "are", "you"}


@pytest.mark.parametrize(
    ("question", "stand"),
    [
        ("notice period", True),
        ("notices of the period", True),
        ("notice", True),
        ("notice period pension", False),  # one is missing
        ("what is the notice period?", False),  # a question is weighed by its signs
        ("what is the notice period", False),
        ("The notice has a period.", False),
        ("period of notice to the landlord of the house", False),  # as long as a sentence
    ],
)
def test_keywords_need_no_other_sign_than_that_they_stand_there(question: str, stand: bool) -> None:
    """A few bare words that the first hit holds are found, however far they lie from its sense."""
    first = a_hit(a_passage("The landlord's notice of the house has a period of three months."))
    second = a_hit(a_passage("Pension and notice period."))

    assert keywords_stand(question, [first, second]) is stand


def test_keywords_stand_in_no_hit_where_there_is_none() -> None:
    """Nothing found is nothing."""
    assert not keywords_stand("notice period", [])
