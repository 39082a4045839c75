"""The limits of connections and of slow uploads, as the settings of the running program say."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.command_line import PATIENCE, Program
from tests.support.live import a_token, a_user
from tests.support.person import Person
from tests.support.raw_socket import raw_tab
from tests.support.sending import sending
from tests.support.served import Served, serving
from tests.support.stalls import Machine
from tests.support.tenants import SIGNED_IN

pytestmark = pytest.mark.xdist_group("live_uploads")
SLACK_SECONDS = 5.0
PATIENT_SECONDS = 6.0
LIMITS = {
    "PENSTOCK_LIVE_CONNECTIONS_PER_USER": "2",
    "PENSTOCK_LIVE_CONNECTIONS_MAX": "3",
    "PENSTOCK_LIVE_REPLAY_MAX": "5",
    "PENSTOCK_LIVE_PING_INTERVAL": "1s",
    "PENSTOCK_HTTP_UPLOAD_PATIENCE": f"{PATIENT_SECONDS:g}s",
    "PENSTOCK_HTTP_UPLOAD_RATE_MIN": "1KiB",
}


@pytest.fixture(scope="module")
def served(installed: Program) -> Iterator[Served]:
    with serving(installed, "serve", env={**SIGNED_IN, **LIMITS}) as served:
        yield served


def test_connections_of_a_user_and_of_a_process_are_limited(served: Served) -> None:
    """The third of one user, and the fourth of all; whoever is in stays in."""
    ann, bo = a_token(a_user()), a_token(a_user())
    with raw_tab(served.port, ann) as one, raw_tab(served.port, ann) as two, raw_tab(served.port, bo) as his:
        for tab in (one, two, his):
            assert tab.hear()["type"] == "ready"
        for token in (ann, bo):
            with raw_tab(served.port, token) as further:
                assert further.ending() == (4429, "ERR_CONNECTIONS")


def test_answers_on_their_way_to_a_user_are_limited(installed: Program, served: Served) -> None:
    """One more than twenty is 429, with Retry-After, in whichever conversation; another user is answered."""
    token, other = a_token(a_user()), a_token(a_user())
    with served.client(token) as client, served.client(other) as his:
        busy, talk = [client.post("/conversations", json={}).json()["id"] for _ in range(2)]
        with closing(sqlite3.connect(installed.data / "penstock.db", timeout=PATIENCE)) as db, db:
            db.executemany(
                "INSERT INTO messages"
                " (message_id, conversation_id, number, role, due_at, created_at, updated_at)"
                " VALUES (?1, ?2, ?3, 'ai', '9999', '2026', '2026')",
                [(f"{busy}-{number}", busy, number) for number in range(1, 21)],
            )
        refused = client.post(f"/conversations/{talk}/messages", json={"content": "Who?"})
        assert (refused.status_code, refused.json()["code"]) == (429, "ERR_ANSWERS_WAITING")
        assert int(refused.headers["Retry-After"]) >= 1
        his_talk = his.post("/conversations", json={}).json()["id"]
        assert his.post(f"/conversations/{his_talk}/messages", json={"content": "Who?"}).status_code == 200
        client.delete(f"/conversations/{busy}")
        assert client.post(f"/conversations/{talk}/messages", json={"content": "Who?"}).status_code == 200


def test_whoever_missed_more_than_is_replayed_is_told_to_resync(served: Served) -> None:
    """Six events are one more than five; the ping meanwhile comes as often as it should."""
    token = a_token(a_user())
    with served.client(token) as client:
        for number in range(3):
            made = client.post("/conversations", json={"title": f"t{number}"}).json()
            posted = client.post(f"/conversations/{made['id']}/messages", json={"content": "Who?"})
            assert posted.status_code == 200
    with raw_tab(served.port, token, since=0) as tab:
        assert tab.hear()["payload"]["reason"] == "too_many"
        last, at = tab.told[0]["payload"]["seq"], tab.told[0]["payload"]["ts"]
        assert tab.hear() == {"type": "ready", "payload": {"seq": last, "ts": at}}
    with raw_tab(served.port, token, since=last - 5) as tab:
        assert [tab.hear()["seq"] for _ in range(5)] == list(range(last - 4, last + 1))
        tab.hear()
        with served.client(token) as client:
            while not tab.pings:  # each turn is an event, so the tab never waits without end
                made = client.post("/conversations", json={"title": "more"}).json()
                client.post(f"/conversations/{made['id']}/messages", json={"content": "Who?"})
                tab.hear()


def test_an_upload_that_drips_is_cut_and_one_that_pauses_is_not(
    installed: Program, served: Served, machine: Machine
) -> None:
    """A byte now and then does not keep it open: 408, failed for whoever watches, and nothing is left."""
    person = Person(served, installed.folder)
    with person.tab() as tab, sending(person, "drips.txt") as slow, sending(person, "rests.txt") as fair:
        began = time.monotonic()
        for turn in range(80):
            slow.drip()
            if turn % 20 == 0:
                fair.send()
            if slow.is_answered(0.1):
                break
        took = time.monotonic() - began
        assert PATIENT_SECONDS - 1.0 < took < PATIENT_SECONDS + SLACK_SECONDS + machine.lost(began)
        said = slow.answer(408)
        assert said["code"] == "ERR_BODY_SLOW"
        failed = tab.until(lambda told: told["type"] == "upload.status_updated")["payload"]
        assert (failed["status"], failed["error_code"]) == ("failed", "ERR_BODY_SLOW")
        for _ in range(4 - 1 - turn // 20):
            fair.send()
        assert fair.finish()["name"] == "rests.txt"
    assert list((installed.data / "blobs" / "unfinished").iterdir()) == []
    assert len(person.ask("GET", f"{person.at}/documents")["items"]) == 1
