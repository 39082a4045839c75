"""The one mapping from what went wrong to an exit code and a sentence."""

import json

import click
import pytest

from penstock.doors.cli.exits import MEANINGS, Exit, complaint_of, tell
from penstock.model.codes import CODES
from penstock.model.errors import Broken, Exhausted, Fault, LeaseLost, Refused, Unavailable
from penstock.settings import ConfigurationError, Problem

WRONG = Problem(key="worker.cuont", source="penstock.yaml, line 2", wrong="no such key", right="say count")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Refused("no"), 1),
        (LeaseLost.of("job"), 1),
        (click.UsageError("no such option"), 1),
        (click.BadParameter("not a number"), 1),
        (Broken("damaged"), 2),
        (Fault("nobody knows"), 2),
        (ValueError("a mistake of ours"), 2),
        (OSError(28, "No space left on device"), 2),
        (ConfigurationError([WRONG]), 3),
        (Refused("no such engine", code="ERR_CONFIGURATION"), 3),
        (click.BadOptionUsage("--config", "needs a value"), 3),
        (Unavailable("the disk is away"), 4),
        (Exhausted("the disk is full", code="ERR_DISK_FULL"), 4),
        (TimeoutError("too slow"), 5),
        (Unavailable("too slow", code="ERR_TIMEOUT"), 5),
    ],
)
def test_each_kind_of_fault_has_its_exit_code(error: Exception, code: int) -> None:
    """0 ok, 1 validation, 2 execution, 3 configuration, 4 connection, 5 timeout."""
    complaint = complaint_of(error)

    assert complaint.exit == code
    assert complaint.code in CODES


def test_every_exit_code_is_explained() -> None:
    """The reference page leaves none out."""
    assert set(MEANINGS) == set(Exit)


def test_an_error_is_told_with_its_code_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    """The message, the code in brackets, then a suggestion a line; nothing on stdout."""
    code = tell(Unavailable("data cannot be written", code="ERR_STORE_READ_ONLY"), as_json=False)

    said = capsys.readouterr()
    assert (code, said.out) == (4, "")
    assert said.err.splitlines() == [
        "error: data cannot be written (ERR_STORE_READ_ONLY)",
        "  Check the owner and the mode of the data folder.",
        "  Choose another with --data.",
    ]


def test_an_error_is_an_object_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    """The problems of a configuration are its suggestions: each names its key."""
    tell(ConfigurationError([WRONG]), as_json=True)

    assert json.loads(capsys.readouterr().err) == {
        "error": {
            "code": "ERR_CONFIGURATION",
            "message": "the configuration cannot be used",
            "suggestions": ["worker.cuont (penstock.yaml, line 2): no such key; say count"],
        }
    }


def test_what_an_error_quotes_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences and line breaks are written out."""
    tell(Refused("there is no job \x1b[2J\nerror: none"), as_json=False)

    assert capsys.readouterr().err == r"error: there is no job \x1b[2J\nerror: none (ERR_REFUSED)" + "\n"


def test_a_traceback_needs_the_debug_switch(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error nobody foresaw names its type and how to see more."""
    monkeypatch.delenv("PENSTOCK_DEBUG", raising=False)
    tell(KeyError("lost"), as_json=False)
    plain = capsys.readouterr().err
    monkeypatch.setenv("PENSTOCK_DEBUG", "1")
    tell(KeyError("lost"), as_json=False)

    assert plain.startswith("error: KeyError: 'lost' (ERR_UNEXPECTED)\n  Set PENSTOCK_DEBUG=1")
    assert "Traceback" not in plain
    assert capsys.readouterr().err.endswith(plain)
