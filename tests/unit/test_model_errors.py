"""One tree of errors: codes that are all explained, classes that say whose move it is."""

import pytest

from penstock.model.advice import FITTING, SUGGESTIONS
from penstock.model.codes import BLANK, CODES
from penstock.model.errors import (
    Broken,
    ErrorClass,
    Exhausted,
    Fault,
    LeaseLost,
    Refused,
    Unavailable,
    report_of,
)


@pytest.mark.parametrize("fault", [Fault, Refused, LeaseLost, Unavailable, Exhausted, Broken])
def test_every_branch_has_an_explained_code(fault: type[Fault]) -> None:
    """A branch's own code stands in the list people read."""
    assert fault.code in CODES


def test_suggestions_belong_to_codes_that_exist() -> None:
    """No suggestion is left behind by a code that went."""
    assert set(SUGGESTIONS) <= set(CODES)


@pytest.mark.parametrize(
    "code",
    ["ERR_JOB_UNKNOWN", "ERR_URL_INVALID", "ERR_FETCH_REFUSED", "ERR_FETCH_FAILED", "ERR_LEGACY_UNREADABLE"],
)
def test_what_a_person_mistypes_comes_with_advice(code: str) -> None:
    """An id, an address, a path: the message says what is wrong, the advice what to do."""
    assert SUGGESTIONS.get(code)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Refused, ErrorClass.PERMANENT),
        (LeaseLost, ErrorClass.PERMANENT),
        (Unavailable, ErrorClass.UNAVAILABLE),
        (Exhausted, ErrorClass.UNAVAILABLE),
        (Broken, ErrorClass.TRANSIENT),
    ],
)
def test_a_branch_says_whose_move_it_is(fault: type[Fault], kind: ErrorClass) -> None:
    """Refused is permanent, the outside's faults park, ours are tried again."""
    assert report_of(fault("no")).kind is kind


def test_a_report_keeps_code_and_message() -> None:
    """The facts of a fault survive as a value."""
    report = report_of(Refused("the disk is full of stars", code="ERR_DISK_FULL"))

    assert (report.code, report.message) == ("ERR_DISK_FULL", "the disk is full of stars")
    assert report.suggestions == SUGGESTIONS["ERR_DISK_FULL"]


def test_advice_fits_what_is_told() -> None:
    """Who handed in blanks need not look for pictures; whoever reads the list sees all there is."""
    blank, pictures = (Refused(words, code="ERR_NO_TEXT").report() for words in (BLANK, "only pictures"))

    assert any("OCR" in line for line in pictures.suggestions)
    assert blank.suggestions
    assert not any("OCR" in line for line in blank.suggestions)
    assert all(set(fit) <= set(SUGGESTIONS[code]) for (code, _), fit in FITTING.items())


def test_what_nobody_foresaw_is_transient_and_keeps_its_name() -> None:
    """An unknown exception is tried again and says what it was."""
    report = report_of(ZeroDivisionError("division by zero"))

    assert (report.code, report.kind) == ("ERR_HANDLER_FAILED", ErrorClass.TRANSIENT)
    assert report.message == "ZeroDivisionError: division by zero"
