"""The realtime contract's acceptance flows: raw HTTP, raw frames, API and workers as processes apart."""

import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime

import psutil
import pytest

from penstock.engines.system.rolls import Rolls
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import Retry
from penstock.wiring.store import Store
from tests.support.command_line import PATIENCE, Program
from tests.support.jobs import an_error
from tests.support.person import Person
from tests.support.raw_socket import Message, RawTab
from tests.support.served import Served
from tests.support.tenants import SIGNED_IN
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("api_flows")
WORKING = {"PENSTOCK_WORKER_RETRY_DELAYS": "100ms", "PENSTOCK_WORKER_HEARTBEAT_TTL": "5s"}
NOTE = b"# Keys\n\nA lost key costs forty crowns.\n"
LISTED = {
    *(
        "id",
        "workspace_id",
        "collection",
        "name",
        "title",
        "source",
        "status",
        "media",
        "size",
        "pages",
        "chunks",
    ),
    *("metadata", "error", "created_at", "updated_at"),
}
"""What a list of documents shows of each."""
DOCUMENTED = {
    "document.created": {"workspace_id", "document"},
    "document.status_updated": {"workspace_id", "document_id", "status"},
    "job.status_updated": {
        *("job_id", "job_type", "document_id", "workspace_id", "status", "retry_count", "error_message")
    },
}
"""Payloads as section 5.2 has them."""


class Worker:
    """A worker of its own, started as an operator starts it."""

    def __init__(self, program: Program) -> None:
        with (program.folder / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                program.command("worker"),
                cwd=program.folder,
                env=program.environment({**SIGNED_IN, **WORKING}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def parsers(self) -> list[psutil.Process]:
        """The processes that read files for it."""
        below = psutil.Process(self._process.pid).children(recursive=True)
        made = {each.pid: each for each in below if "penstock.doors.nursery" in " ".join(each.cmdline())}
        return [each for each in made.values() if each.ppid() in made]

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            self._process.wait(PATIENCE)

    def kill(self) -> None:
        """All of it at once, as when the power goes."""
        below = psutil.Process(self._process.pid).children(recursive=True)
        self._process.send_signal(signal.SIGSTOP)
        for each in below:  # first, for a worker whose supervisor is gone hands its jobs back
            with suppress(psutil.NoSuchProcess):  # a parser dies with its worker
                each.kill()
        self._process.kill()
        self._process.wait(PATIENCE)
        psutil.wait_procs(below, PATIENCE)


@contextmanager
def working(program: Program) -> Iterator[Worker]:
    worker = Worker(program)
    try:
        yield worker
    finally:
        worker.stop()


def is_status(document: str, status: str) -> Callable[[Message], bool]:
    return lambda said: (
        said["type"] == "document.status_updated"
        and (said["payload"]["document_id"], said["payload"]["status"]) == (document, status)
    )


def is_stage(document: str, kind: str, status: str) -> Callable[[Message], bool]:
    wanted = {"document_id": document, "job_type": kind, "status": status}
    return lambda said: said["type"] == "job.status_updated" and wanted.items() <= said["payload"].items()


def stages(tab: RawTab, document: str) -> list[tuple[str, str, int]]:
    """What was told of the document's stages, in order, each change once."""
    return [
        (said["payload"]["job_type"], said["payload"]["status"], said["payload"]["retry_count"])
        for said in tab.numbered()
        if said["type"] == "job.status_updated" and said["payload"]["document_id"] == document
    ]


def states(tab: RawTab, document: str) -> list[str]:
    """The states the document was told to be in, the first one by its creation."""
    found: list[str] = []
    for said in tab.numbered():
        payload = said["payload"]
        if said["type"] == "document.created" and payload["document"]["id"] == document:
            assert set(payload["document"]) == LISTED
            found.append(payload["document"]["status"])
        if said["type"] == "document.status_updated" and payload["document_id"] == document:
            found.append(payload["status"])
    return found


def assert_without_gap(tab: RawTab) -> None:
    """What came is everything behind the number it was told at first."""
    (before,) = [each["payload"]["seq"] for each in tab.told if each["type"] == "ready"]
    numbers = [each["seq"] for each in tab.numbered()]
    assert numbers == list(range(before + 1, before + 1 + len(numbers)))


def test_a_question_is_seen_by_every_tab_until_it_is_answered(installed: Program, person: Person) -> None:
    """Section 7.1: the question at once, the answer pending, done; both tabs alike, the whole by HTTP."""
    with person.tab() as one, person.tab() as other, working(installed):
        document = person.upload("keys.md", NOTE)
        one.until(is_status(document, "ingested"))
        talk = person.ask("POST", "/conversations", {"title": "Keys"})["id"]
        posted = person.ask(
            "POST", f"/conversations/{talk}/messages", {"content": "What does a lost key cost?"}
        )
        answer = posted["answer"]
        for tab in (one, other):
            tab.until(
                lambda said: said["type"] == "message.status_updated" and said["payload"]["status"] == "done"
            )
            assert_without_gap(tab)
            created = [each["payload"] for each in tab.numbered() if each["type"] == "message.created"]
            assert [(each["message"]["role"], each["message"]["status"]) for each in created] == [
                ("user", "done"),
                ("ai", "pending"),
            ]
            assert {each["conversation_id"] for each in created} == {talk}
            moved = [each["payload"] for each in tab.numbered() if each["type"] == "message.status_updated"]
            assert [each["status"] for each in moved] == ["running", "done"]
            assert {each["message_id"] for each in moved} == {answer["id"]}
            assert (moved[-1]["content"], moved[-1]["citations"]) == (answer["content"], answer["citations"])
        assert one.numbered() == other.numbered()
        assert answer["status"] == "done"
        assert "forty crowns" in answer["content"]
        assert answer["citations"][0]["document_id"] == document
        assert person.ask("GET", f"/conversations/{talk}/messages")["items"] == [posted["question"], answer]


def test_other_tabs_see_what_is_made_as_lists_show_it(person: Person) -> None:
    """Each once, with its number, also by who comes later; the title of what is gone is not."""
    with person.tab() as one, person.tab() as other:
        place = person.ask("POST", "/workspaces", {"name": "Cellar"})
        shelf = person.ask("POST", f"/workspaces/{place['id']}/collections", {"name": "wines"})
        person.ask("POST", f"/workspaces/{place['id']}/collections", {"name": "wines"})  # is there already
        talk = person.ask("POST", "/conversations", {"workspace_id": place["id"], "title": "Corks"})
        here = {"workspace_id": place["id"]}
        expected: list[tuple[str, object]] = [
            ("workspace.created", {**here, "workspace": place}),
            ("collection.created", {**here, "collection": shelf}),
            ("conversation.created", {**here, "conversation": talk}),
        ]
        for tab in (one, other):
            tab.until(lambda said: said["type"] == "conversation.created")
            assert [(said["type"], said["payload"]) for said in tab.numbered()] == expected
        assert place in person.ask("GET", "/workspaces")["items"]
        assert person.ask("GET", f"/workspaces/{place['id']}/collections")["items"] == [shelf]
        assert person.ask("GET", f"/conversations?workspace_id={place['id']}")["items"] == [talk]
    person.ask("DELETE", f"/conversations/{talk['id']}")
    with person.tab(since=0) as later:
        later.until(lambda said: said["type"] == "ready")
        assert "conversation.created" in [said["type"] for said in later.numbered()]
        assert "Corks" not in str(later.told)


def test_other_tabs_see_what_is_renamed_and_removed(installed: Program, person: Person) -> None:
    """Each once, with its number, also by who comes later; the title of what is gone is not."""
    other = person.ask("POST", "/workspaces", {"name": "Cellar"})["id"]
    person.ask("POST", f"/workspaces/{other}/collections", {"name": "wines"})
    person.ask("POST", "/conversations", {"workspace_id": other, "title": "Wine"})
    talk = person.ask("POST", "/conversations", {"workspace_id": person.workspace, "title": "Keys"})["id"]
    with person.tab() as tab:
        for _ in range(2):  # the second time it is no news
            person.ask("PATCH", f"/workspaces/{other}", {"name": "Attic"})
            person.ask("PATCH", f"/conversations/{talk}", {"title": "Locks"})
        person.ask("DELETE", f"{person.at}/collections/papers")
        person.ask("DELETE", f"/conversations/{talk}")
        tab.until(lambda said: said["type"] == "conversation.removed")
        person.ask("DELETE", f"/workspaces/{other}")
        tab.until(lambda said: said["type"] == "workspace.removed")
        assert_without_gap(tab)
        here, there = {"workspace_id": person.workspace}, {"workspace_id": other}
        expected = [
            ("workspace.renamed", {**there, "name": "Attic"}),
            ("conversation.renamed", {**here, "conversation_id": talk, "title": "Locks"}),
            ("collection.removed", {**here, "collection": "papers"}),
            ("conversation.removed", {**here, "conversation_id": talk}),
            ("workspace.removed", there),
        ]
        assert [(said["type"], said["payload"]) for said in tab.numbered()] == expected
    with person.tab(since=0) as later:
        later.until(lambda said: said["type"] == "ready")
        expected[0] = ("workspace.renamed", {**there, "name": ""})
        expected[1] = ("conversation.renamed", {**here, "conversation_id": talk, "title": ""})
        assert [(said["type"], said["payload"]) for said in later.numbered()][-5:] == expected
        assert [said["type"] for said in later.numbered()].count("conversation.removed") == 1

        # No worker runs yet, and still nothing that was said or named there is told any more.
        for word in ("Cellar", "Attic", "Wine", "wines"):
            assert word not in str(later.told)
        assert [said["seq"] for said in later.numbered()] == [seq for seq, _ in person.log()]

    def is_forgotten() -> bool:
        return not person.rows(
            "SELECT 1 FROM events WHERE user_id = ? AND payload_json GLOB '*Wine*'", person.user
        )

    assert not is_forgotten()
    with working(installed):
        until("what was said in it is purged", is_forgotten)


def test_an_upload_is_seen_on_its_way(installed: Program, person: Person) -> None:
    """Section 7.2: created as pending, then parsed, then ingested; what no parser can read ends in error."""
    with person.tab() as tab, working(installed):
        document = person.upload("keys.md", NOTE)
        tab.until(is_stage(document, "ingest", "success"))
        assert states(tab, document) == ["pending", "parsed", "ingested"]
        assert stages(tab, document) == [
            ("parse", "queued", 0),
            ("parse", "running", 0),
            ("parse", "success", 0),
            ("ingest", "queued", 0),
            ("ingest", "running", 0),
            ("ingest", "success", 0),
        ]
        for said in tab.numbered():
            assert set(said) == {"type", "payload", "seq", "ts"}
            assert set(said["payload"]) == DOCUMENTED.get(said["type"], set(said["payload"]))
            assert said["payload"]["workspace_id"] == person.workspace

        broken = person.upload("broken.pdf", b"%PDF-1.7 no, not really")
        tab.until(is_status(broken, "error"))
        assert states(tab, broken) == ["pending", "error"]
        assert stages(tab, broken)[-1] == ("parse", "failed", 0)
        assert person.ask("GET", f"{person.at}/documents/{broken}")["error"]["code"] == "ERR_PDF_INVALID"
        assert_without_gap(tab)


def test_a_stage_that_fails_again_and_again_is_tried_three_times_more(
    installed: Program, person: Person
) -> None:
    """Section 7.2: bytes spoilt on disk may be mended meanwhile, so they are tried again, and then failed."""
    with person.tab() as tab:
        document = person.upload("spoilt.md", b"# Spoilt\n\nNobody will read this.\n")
        spoil(installed, b"Nobody will read this")
        with working(installed):
            tab.until(is_status(document, "error"))
    assert states(tab, document) == ["pending", "error"]
    seen = stages(tab, document)
    assert [count for kind, status, count in seen if (kind, status) == ("parse", "running")] == [0, 1, 2, 3]
    assert seen[-1] == ("parse", "failed", 3)
    last = next(each for each in reversed(tab.numbered()) if each["type"] == "job.status_updated")
    assert last["payload"]["error_message"]
    said = person.ask("GET", f"{person.at}/documents/{document}")
    assert (said["status"], said["stages"][0]["retry_count"]) == ("error", 3)


def test_a_stage_that_waits_for_its_next_try_says_until_when(installed: Program, person: Person) -> None:
    """Section 6.1: queued again with its count, its due time and the reason, by HTTP and by an event."""
    with person.tab() as tab:
        document = person.upload("later.md", b"# Later\n\nNot at the first try.\n")

        async def fail_once(store: Store) -> None:
            (lease,) = await store.queue.claim(WorkerId("one-shot"), 1)
            await store.queue.settle([(lease, Retry(an_error("ERR_HANDLER_FAILED", "no luck")))])
            await store.queue.leave(WorkerId("one-shot"))

        failed_after = datetime.now(UTC)
        installed.in_store(fail_once)
        tab.until(is_stage(document, "parse", "running"))
        tab.until(is_stage(document, "parse", "queued"))
        told = tab.numbered()[-1]["payload"]
        assert (told["retry_count"], told["error_message"]) == (1, "no luck")
        (stage, *_) = person.ask("GET", f"{person.at}/documents/{document}")["stages"]
        assert (stage["status"], stage["retry_count"], stage["job_id"]) == ("queued", 1, told["job_id"])
        ((due,),) = person.rows("SELECT next_run_at FROM unified_queue WHERE document_id = ?", document)
        assert datetime.fromisoformat(stage["next_run_at"]) == datetime.fromisoformat(due) > failed_after
    person.ask("DELETE", f"{person.at}/documents/{document}")


def spoil(program: Program, words: bytes) -> None:
    """Change the kept bytes that hold these words."""
    for path in (program.data / "blobs").rglob("*"):
        if path.is_file() and words in path.read_bytes():
            path.chmod(0o600)
            path.write_bytes(path.read_bytes().replace(words, words.upper()))
            return
    raise AssertionError("no such bytes are kept")


def test_a_worker_killed_while_it_parses_costs_one_retry(installed: Program, person: Person) -> None:
    """Section 7.3: the stage goes back to queued, with an event, and the next worker brings it to its end."""
    with person.tab() as tab:
        with working(installed) as doomed:
            warm = person.upload("warm.md", b"# Warm\n\nSo that the parsers are there.\n")
            tab.until(is_status(warm, "ingested"))
            for parser in doomed.parsers():
                parser.suspend()
            document = person.upload("keys.md", NOTE + b"\nTwice.\n")
            tab.until(is_stage(document, "parse", "running"))
            # The event tells of the claim; one killed before the handler's first step would spend no retry.
            until("its handler has begun", lambda: has_begun(installed, document))
            doomed.kill()
        assert stages(tab, document) == [("parse", "queued", 0), ("parse", "running", 0)]
        with working(installed):
            tab.until(is_stage(document, "ingest", "success"))
    assert stages(tab, document) == [
        ("parse", "queued", 0),
        ("parse", "running", 0),
        ("parse", "queued", 1),
        ("parse", "running", 1),
        ("parse", "success", 1),
        ("ingest", "queued", 0),
        ("ingest", "running", 0),
        ("ingest", "success", 0),
    ]
    assert states(tab, document) == ["pending", "parsed", "ingested"]
    assert_without_gap(tab)


def has_begun(program: Program, document: str) -> bool:
    """Whether the worker has called the document's job over on its roll."""
    with closing(sqlite3.connect(program.data / "penstock.db", timeout=PATIENCE)) as db:
        found = db.execute(
            "SELECT worker_id, queue_id, token FROM unified_queue"
            " WHERE document_id = ? AND status = 'in_progress'",
            (document,),
        ).fetchone()
    return found is not None and Rolls(program.data / "run").had_begun(*found)


def test_what_was_committed_and_not_sent_is_sent_by_the_next_process(
    installed: Program, person: Person, served: Served
) -> None:
    """The API stands still while a worker commits, then is killed: `since` brings the rest, each once."""
    with person.tab(since=0) as tab:
        document = person.upload("keys.md", NOTE + b"\nThrice.\n")
        tab.until(lambda said: said["type"] == "job.status_updated")
        seen = tab.numbered()
        (serving_process,) = psutil.Process(served.process.pid).children()
        serving_process.suspend()
        with working(installed):
            until("the last event tells of the end", lambda: '"ingested"' in last_payload(person))
        serving_process.kill()
    with person.tab(since=seen[-1]["seq"]) as again:
        again.until(lambda said: said["type"] == "ready")
        told = [(each["seq"], each["type"]) for each in (*seen, *again.numbered())]
        assert told == person.log()
        assert states(again, document) == ["parsed", "ingested"]


def last_payload(person: Person) -> str:
    with closing(sqlite3.connect(person.folder / "data" / "penstock.db", timeout=PATIENCE)) as db:
        found = db.execute(
            "SELECT payload_json FROM events WHERE user_id = ? AND type = 'document.status_updated'"
            " ORDER BY seq DESC LIMIT 1",
            (person.user,),
        ).fetchone()
    return "" if found is None else str(found[0])
