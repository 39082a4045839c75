"""Uploads as every tab of their owner sees them: raw bodies sent piece by piece, raw frames read beside."""

import contextlib
import hashlib
import json
import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import psutil
import pytest

from tests.journey.test_api_flows import BOUNDARY, Person, until
from tests.support.command_line import PATIENCE, Program
from tests.support.raw_socket import Message, RawTab
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN

pytestmark = pytest.mark.xdist_group("live_uploads")
PIECE = b"water " * 2_000


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("live_uploads"))


@pytest.fixture(scope="module")
def served(program: Program) -> Iterator[Served]:
    with serving(program, "serve", env=SIGNED_IN) as served:
        yield served


@pytest.fixture
def person(served: Served, program: Program) -> Person:
    return Person(served, program.folder)


class Sending:
    """A form on its way, of which the sender decides when to go on."""

    def __init__(self, raw: socket.socket, person: Person, name: str, pieces: int, key: str = "") -> None:
        head = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="collection"\r\n\r\npapers\r\n'
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n'
            f"Content-Length: {pieces * len(PIECE)}\r\n\r\n"
        ).encode()
        self._end = f"\r\n--{BOUNDARY}--\r\n".encode()
        length = len(head) + pieces * len(PIECE) + len(self._end)
        repeatable = f"Idempotency-Key: {key}\r\n" if key else ""
        self._raw = raw
        raw.sendall(
            f"POST /api{person.at}/documents HTTP/1.1\r\nHost: {person.served.host}\r\n{repeatable}"
            f"Authorization: Bearer {person.token}\r\nContent-Length: {length}\r\n"
            f"Content-Type: multipart/form-data; boundary={BOUNDARY}\r\n\r\n".encode()
            + head
        )

    def send(self, pieces: int = 1) -> None:
        self._raw.sendall(PIECE * pieces)

    def drip(self) -> None:
        """One byte, unless the other end has had enough."""
        with contextlib.suppress(OSError):
            self._raw.sendall(b".")

    def is_answered(self, seconds: float) -> bool:
        """Whether there is something to read, within a time."""
        return bool(select.select([self._raw], [], [], seconds)[0])

    def finish(self) -> dict[str, object]:
        """The end of the form; what was accepted."""
        self._raw.sendall(self._end)
        return self.answer(202)["items"][0]  # type: ignore[no-any-return]

    def answer(self, status: int) -> Message:
        told = b""
        while b"\r\n\r\n" not in told or len(told.partition(b"\r\n\r\n")[2]) < _length(told):
            piece = self._raw.recv(65536)
            assert piece, told
            told += piece
        assert told.startswith(f"HTTP/1.1 {status} ".encode()), told
        said: Message = json.loads(told.partition(b"\r\n\r\n")[2])
        return said


def _length(told: bytes) -> int:
    for line in told.partition(b"\r\n\r\n")[0].lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    raise AssertionError(told)


@contextmanager
def sending(person: Person, name: str, pieces: int = 4, key: str = "") -> Iterator[Sending]:
    with closing(socket.create_connection(("127.0.0.1", person.served.port), timeout=PATIENCE)) as raw:
        yield Sending(raw, person, name, pieces, key)


def is_upload(kind: str, **facts: object) -> Callable[[Message], bool]:
    return lambda said: said["type"] == f"upload.{kind}" and facts.items() <= said["payload"].items()


def begun(tab: RawTab) -> Message:
    created: Message = tab.until(is_upload("created"))["payload"]["upload"]
    return created


def test_every_tab_sees_an_upload_begin_advance_and_end(person: Person) -> None:
    """Its size is known before its bytes are, progress passes unnumbered, the end names its document."""
    with person.tab() as one, person.tab() as other, sending(person, "water.txt") as upload:
        upload.send()
        created = begun(one)
        assert (created["name"], created["status"], created["done"]) == ("water.txt", "uploading", 0)
        assert created["total"] == 4 * len(PIECE)
        first = one.until(is_upload("progress", upload_id=created["id"], done=len(PIECE)))
        assert "seq" not in first
        assert first["payload"]["total"] == 4 * len(PIECE)
        upload.send(2)
        one.until(is_upload("progress", done=3 * len(PIECE)))
        upload.send()
        accepted = upload.finish()
        for tab in (one, other):
            ended = tab.until(is_upload("status_updated"))["payload"]
            assert (ended["upload_id"], ended["status"]) == (created["id"], "completed")
            assert (ended["document_id"], ended["done"]) == (accepted["document_id"], 4 * len(PIECE))
        numbers = [each["seq"] for each in one.numbered()]
        assert numbers == list(range(1, len(numbers) + 1))
        kinds = [each["type"] for each in one.numbered()]
        assert kinds.index("upload.created") < kinds.index("document.created")


def test_an_upload_that_breaks_off_is_told_and_leaves_nothing(program: Program, person: Person) -> None:
    """The sender leaves in the middle: failed, with a code; no document, no bytes, no error in the log."""
    with person.tab() as tab:
        with sending(person, "half.txt") as upload:
            upload.send()
            created = begun(tab)
        failed = tab.until(is_upload("status_updated", upload_id=created["id"]))["payload"]
        assert (failed["status"], failed["error_code"]) == ("failed", "ERR_UPLOAD_BROKEN_OFF")
        assert failed["document_id"] is None
    assert person.ask("GET", f"{person.at}/documents")["items"] == []
    until(lambda: any("left before its end" in line for line in person.served.lines))
    assert not [line for line in person.served.lines if "ClientDisconnect" in line or "ASGI" in line]
    assert list((program.data / "blobs" / "unfinished").iterdir()) == []


def test_an_upload_sent_again_is_completed_without_a_new_document(person: Person) -> None:
    """Under the same key: the earlier answer, and nothing stays held."""
    with sending(person, "twice.txt", 1, key="again") as upload:
        upload.send()
        accepted = upload.finish()
    with person.tab() as tab, sending(person, "twice.txt", 1, key="again") as upload:
        upload.send()
        assert upload.finish() == accepted
        ended = tab.until(is_upload("status_updated"))["payload"]
        assert (ended["status"], ended["document_id"]) == ("completed", None)
    digest = hashlib.sha256(PIECE).hexdigest()
    assert person.rows("SELECT count(*) FROM held_blobs WHERE blob = ? AND until IS NOT NULL", digest) == [
        (0,)
    ]


def test_an_upload_whose_process_is_killed_ends_all_the_same(person: Person, served: Served) -> None:
    """Within ten seconds, by the process that takes its place; a client that comes again is told."""
    with person.tab() as tab, sending(person, "doomed.txt") as upload:
        upload.send()
        created = begun(tab)
        last = tab.numbered()[-1]["seq"]
        (process,) = psutil.Process(served.process.pid).children()
        killed = time.monotonic()
        process.kill()
    with person.tab(since=last) as again:
        failed = again.until(is_upload("status_updated", upload_id=created["id"]))["payload"]
    assert (failed["status"], failed["error_code"]) == ("failed", "ERR_UPLOAD_BROKEN_OFF")
    assert time.monotonic() - killed < PATIENCE


def test_a_size_nobody_told_is_not_guessed(person: Person) -> None:
    """Of two files in one form neither is said to be as long as both."""
    heads = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{n}.txt"\r\n\r\n'
        for n in range(2)
    )
    first, second = (head.encode() + PIECE + str(n).encode() + b"\r\n" for n, head in enumerate(heads))
    where = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="collection"\r\n\r\npapers\r\n'
    end = f"--{BOUNDARY}--\r\n"
    with person.tab() as tab:
        person.ask("POST", f"{person.at}/documents", form=where.encode() + first + second + end.encode())
        created = [begun(tab), begun(tab)]
    assert [(each["name"], each["total"]) for each in created] == [("0.txt", None), ("1.txt", None)]
