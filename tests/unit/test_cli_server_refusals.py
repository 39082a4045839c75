"""What `--server` leads to before any server is asked: refusals with their codes, and never a store here."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.client import PenstockError
from penstock.doors.cli.given import Given
from penstock.doors.cli.program import run
from penstock.doors.cli.remote import ANYWHERE, WAYS
from penstock.doors.cli.remote.session import fault_of, token_in
from penstock.model.errors import Broken, Refused, Unavailable

NOWHERE = "http://127.0.0.1:9"


@pytest.fixture(autouse=True)
def _afar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own, a server nobody runs, and logs as they were."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PENSTOCK_SERVER", NOWHERE)
    monkeypatch.setenv("PENSTOCK_DATA", str(tmp_path / "data"))
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    assert not (tmp_path / "data").exists()


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and the error's."""
    code = run([*words, "--json"])
    return code, json.loads(capsys.readouterr().err.splitlines()[-1])["error"]["code"]


@pytest.mark.parametrize(
    "words",
    [
        ("queue", "status"),
        ("fsck",),
        ("ingest", "delete", "--rag", "papers", "--path", "keys.md"),
        ("ingest", "submit", "--rag", "papers", "--url", "https://example.org/"),
        ("ingest", "list", "--path", "."),
        ("ingest", "submit", "--rag", "papers", "--path", ".", "--version", "2"),
        ("ingest", "reindex", "--rag", "papers"),
    ],
)
def test_what_a_server_cannot_do_is_said(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    """With 1, and it is not done here in its place."""
    assert ended(capsys, *words) == (1, "ERR_SERVER_UNABLE")


@pytest.mark.parametrize(
    "words", [("--server", "ftp://elsewhere"), ("--token-file", "not-there"), ("--token-file", "empty")]
)
def test_a_wrong_address_or_token_file_is_a_wrong_configuration(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """With 3, before anything is sent."""
    Path("empty").write_text("\n")

    assert ended(capsys, "collection", "list", *words) == (3, "ERR_CONFIGURATION")


def test_what_touches_no_store_is_the_same_anywhere(capsys: pytest.CaptureFixture[str]) -> None:
    """The reference is printed whatever server is named."""
    assert run(["reference", "errors"]) == 0
    assert capsys.readouterr().out.startswith("# Error codes")
    assert not ANYWHERE & set(WAYS)


def test_what_is_typed_counts_more_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """A typed token file is not overruled by a token in the environment; no token is shown by a value."""
    monkeypatch.setenv("PENSTOCK_TOKEN", "from-the-environment")
    usual, typed = Given().elsewhere(), Given(server="http://there", token_file="mine").elsewhere()

    assert usual is not None
    assert typed is not None
    assert (usual.server, usual.token, usual.token_file) == (NOWHERE, "from-the-environment", None)
    assert (typed.server, typed.token, typed.token_file) == ("http://there", None, "mine")
    assert "from-the-environment" not in repr(usual)
    monkeypatch.delenv("PENSTOCK_SERVER")
    assert Given(token="mine").elsewhere() is None


def test_a_token_file_holds_one_token(tmp_path: Path) -> None:
    """With or without an end of line."""
    file = tmp_path / "token"
    file.write_text("abc.def.ghi\n")
    assert token_in(str(file)) == "abc.def.ghi"
    file.write_text("two words")
    with pytest.raises(Refused, match="holds no token"):
        token_in(str(file))


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (None, Unavailable),
        (401, Unavailable),
        (403, Unavailable),
        (404, Refused),
        (409, Refused),
        (422, Refused),
        (429, Unavailable),
        (500, Broken),
        (503, Unavailable),
        (507, Unavailable),
    ],
)
def test_a_servers_word_keeps_its_code_and_whose_move_it_is(
    status: int | None, kind: type[Exception]
) -> None:
    """So it ends with the exit code the same fault has here."""
    fault = fault_of(PenstockError("no", code="ERR_OF_ITS_OWN", status=status))

    assert (type(fault), fault.code, fault.message) == (kind, "ERR_OF_ITS_OWN", "no")
