"""Uploads as every tab of their owner sees them: raw bodies sent piece by piece, raw frames read beside."""

import hashlib
import time
from collections.abc import Callable

import psutil
import pytest

from tests.support.command_line import Program
from tests.support.person import BOUNDARY, Person
from tests.support.raw_socket import Message, RawTab
from tests.support.sending import PIECE, sending
from tests.support.served import Served
from tests.support.stalls import Machine
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("live_uploads")
PROMISED = 10.0


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
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        kinds = [each["type"] for each in one.numbered()]
        assert kinds.index("upload.created") < kinds.index("document.created")


def test_an_upload_that_breaks_off_is_told_and_leaves_nothing(installed: Program, person: Person) -> None:
    """The sender leaves in the middle: failed, with a code; no document, no bytes, no error in the log."""
    with person.tab() as tab:
        with sending(person, "half.txt") as upload:
            upload.send()
            created = begun(tab)
        failed = tab.until(is_upload("status_updated", upload_id=created["id"]))["payload"]
        assert (failed["status"], failed["error_code"]) == ("failed", "ERR_UPLOAD_BROKEN_OFF")
        assert failed["document_id"] is None
    assert person.ask("GET", f"{person.at}/documents")["items"] == []
    until("it is logged", lambda: any("left before its end" in line for line in person.served.lines))
    assert not [line for line in person.served.lines if "ClientDisconnect" in line or "ASGI" in line]
    assert list((installed.data / "blobs" / "unfinished").iterdir()) == []


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


def test_an_upload_whose_process_is_killed_ends_all_the_same(
    person: Person, served: Served, machine: Machine
) -> None:
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
    took = time.monotonic() - killed
    assert (failed["status"], failed["error_code"]) == ("failed", "ERR_UPLOAD_BROKEN_OFF")
    assert took < PROMISED + machine.lost(killed)


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
