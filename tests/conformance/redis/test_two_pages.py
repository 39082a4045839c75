"""Both public pages, line by line, as an outsider meets the running program.

One run of two worker processes serves all of it: everything is pushed at once, and each test reads what came
of its part. The numbers of lines are those of the queue page (Q) and of the worker page (W).
"""

import json
import re
import time
from collections.abc import Iterator

import pytest

from tests.conformance.redis.outsider import DEAD, FAQ, POLICIES, QUEUE, Outsider, an_outsider
from tests.support.collector import attributes_of
from tests.support.files.packages import docx, paragraph
from tests.support.files.pdf import simple_pdf, with_unreadable_page
from tests.support.metrics import fetched

pytestmark = pytest.mark.xdist_group("two_pages")
WEEK = 604_800
ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
STATUS = [
    *("job_id", "rag_id", "filename", "status", "submitted_at", "started_at", "completed_at"),
    *("duration_seconds", "chunks_created", "embeddings_generated", "tokens_used", "error", "error_type"),
    "retry_count",
]
"""Q136 to Q150, in their order."""
ERROR = [
    *("job_id", "rag_id", "filename", "status", "submitted_at", "started_at", "failed_at", "error"),
    *("error_type", "error_code", "retry_count", "max_retries", "suggestions", "traceback"),
]
"""Q378 to Q398."""
LOG_KEYS = {
    *("level", "ts", "msg", "trace_id", "span_id", "job_id", "queue", "worker_id", "request_id", "namespace")
}
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
GOOD = {
    "handbook.txt": b"Leave is thirty days a year.\n" * 40,
    "rules.md": b"# Rules\n\nBadges are worn at all times.\n",
    "letter.docx": docx(paragraph("The office closes at six.")),
    "policy.pdf": simple_pdf([["The notice period is thirty days."]]),
}
"""One of each type the page names (Q68)."""
LOAD = 100
LISTS = (f"{QUEUE}:high", f"{QUEUE}:normal", f"{QUEUE}:low", f"{QUEUE}:{FAQ}")


def number_of(name: str) -> int:
    return 1 + list(GOOD).index(name)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outsider]:
    """Everything pushed and ended; the workers still run."""
    with an_outsider(tmp_path_factory.mktemp("outsider")) as outsider:
        outsider.start()
        _push_all(outsider)
        waiting = [*(f"load-{number}" for number in range(LOAD)), "worker-shape", *LISTS]
        jobs = [f"rag-{POLICIES}-1704882600-{number:08x}" for number in (*range(1, 5), *range(20, 28))]
        for job in (*jobs, *waiting):
            outsider.ended(job.replace(f"{QUEUE}:", "by-"))
        yield outsider


@pytest.fixture(scope="module")
def stopped(scene: Outsider) -> Outsider:
    """The same after its workers were told to stop; what they had to tell has been told."""
    assert scene.stop() == 0
    return scene


def _push_all(outsider: Outsider) -> None:
    for number in range(LOAD):
        (outsider.papers / f"load-{number}.txt").write_text("The same words in every file.")
    for name in ("worker-shape.md", *(f"by-{name.rpartition(':')[2]}.md" for name in LISTS)):
        (outsider.papers / name).write_text(f"# {name}\n\nOne of its own.")
    outsider.incoming.mkdir(parents=True, exist_ok=True)
    odd = {
        "torn.pdf": b"%PDF-1.4 torn",
        "tool.bin": b"\x7fELF\0\0\0" * 9,
        "strict.pdf": with_unreadable_page(),
        "lenient.pdf": with_unreadable_page(4),
        "upload-17.txt": b"A file with a name of its own.",
    }
    for name, data in {**GOOD, **odd}.items():
        outsider.incoming.joinpath(name).write_bytes(data)
    for name in GOOD:
        message = outsider.message(number_of(name), name)
        # As the page has its command line do it (Q505, Q506).
        outsider.push(message)
        outsider.bare.call("HSETNX", f"rag:ingest:job:{message['job_id']}", "status", "submitted")
    outsider.push(outsider.message(20, "torn.pdf"))
    outsider.push(outsider.message(21, "tool.bin"))
    outsider.push(outsider.message(22, "nothing.txt"))
    outsider.push(outsider.message(23, "x.txt", rag_id="nobody_rag"))
    outsider.push(outsider.message(24, "x.txt", source_path="/etc/hostname"))
    outsider.push(outsider.message(25, "strict.pdf"))
    outsider.push(outsider.message(26, "lenient.pdf", options={"skip_validation": True}))
    outsider.push(outsider.message(27, "upload-17.txt", filename="My Policy.txt"))
    outsider.push("{torn")
    outsider.push(
        {
            "id": "worker-shape",
            "filepath": str(outsider.papers / "worker-shape.md"),
            "filesize": 30,
            "priority": "high",
            "retries": 0,
            "creation_time": "2025-01-10T20:15:30.123456789Z",
            "trace_id": TRACE,
            "span_id": SPAN,
        }
    )
    for name in LISTS:
        word = name.rpartition(":")[2]
        outsider.push({"id": f"by-{word}", "filepath": str(outsider.papers / f"by-{word}.md")}, name)
    for number in range(LOAD):
        path = str(outsider.papers / f"load-{number}.txt")
        outsider.push({"id": f"load-{number}", "filepath": path, "priority": "low"})


@pytest.mark.parametrize("name", GOOD)
def test_each_documented_type_is_done(scene: Outsider, name: str) -> None:
    """Q136-Q188, Q302-Q332: the hash has every field, the file is in processed with its record."""
    job = f"rag-{POLICIES}-1704882600-{number_of(name):08x}"
    told = scene.hash(job)

    assert sorted(told) == sorted(STATUS)
    assert (told["status"], told["rag_id"], told["filename"]) == ("done", POLICIES, name)
    assert told["submitted_at"] == "2025-01-10T20:15:30.123Z"
    assert re.fullmatch(ISO, told["started_at"])
    assert re.fullmatch(ISO, told["completed_at"])
    assert told["started_at"] <= told["completed_at"]
    assert float(told["duration_seconds"]) >= 0
    assert int(told["chunks_created"]) == int(told["embeddings_generated"]) >= 1
    assert int(told["tokens_used"]) > 3
    assert (told["error"], told["error_type"], told["retry_count"]) == ("", "", "0")

    record = scene.record(job, "processed", f"{name}.meta.json")
    assert list(record)[: len(STATUS)] == STATUS
    assert (record["status"], record["submitted_at"]) == ("done", told["submitted_at"])
    assert (scene.incoming.parent / "processed" / name).read_bytes() == GOOD[name]
    assert not (scene.incoming / name).exists()


@pytest.mark.parametrize(
    ("number", "name", "code", "family"),
    [
        (20, "torn.pdf", "ERR_PDF_INVALID", "ParseError"),
        (21, "tool.bin", "ERR_TYPE_UNSUPPORTED", "UnsupportedFileError"),
        (22, "nothing.txt", "ERR_FILE_NOT_FOUND", "FileError"),
    ],
    ids=["corrupted", "unsupported", "not found"],
)
def test_what_cannot_be_recovered_fails_at_once(
    scene: Outsider, number: int, name: str, code: str, family: str
) -> None:
    """Q359-Q398: no retry, failed, an error file with every field, the file in failed, a dead letter."""
    job = f"rag-{POLICIES}-1704882600-{number:08x}"
    told = scene.hash(job)
    assert sorted(told) == sorted(STATUS)
    assert (told["status"], told["error_type"], told["retry_count"]) == ("failed", family, "0")
    assert (bool(told["error"]), told["completed_at"]) == (True, "")

    record = scene.record(job, "failed", f"{name}.error.json")
    assert list(record) == ERROR
    assert (record["error_code"], record["error_type"]) == (code, family)
    assert (record["status"], record["filename"], record["rag_id"]) == ("failed", name, POLICIES)
    assert record["submitted_at"] == "2025-01-10T20:15:30.123Z"
    assert re.fullmatch(ISO, record["failed_at"])
    assert (record["retry_count"], record["max_retries"]) == (0, 3)
    assert record["error"] == told["error"]
    assert all(isinstance(each, str) for each in record["suggestions"])
    assert isinstance(record["traceback"], str)
    if name != "nothing.txt":
        assert record["suggestions"]
        assert (scene.incoming.parent / "failed" / name).exists()
    letters = {
        json.loads(each["message"])["job_id"]: each for each in scene.letters() if job in each["message"]
    }
    assert letters[job]["code"] == code


def test_a_message_says_how_its_file_is_to_be_treated(scene: Outsider) -> None:
    """Q69, Q86-Q90: a file is moved by its message's name, and a damaged one may be asked for as it is."""
    strict, lenient, named = (f"rag-{POLICIES}-1704882600-{number:08x}" for number in (25, 26, 27))

    assert scene.record(strict, "failed", "strict.pdf.error.json")["error_code"] == "ERR_PDF_PAGES_UNREADABLE"
    assert scene.record(lenient, "processed", "lenient.pdf.meta.json")["status"] == "done"
    assert scene.hash(named)["filename"] == "My Policy.txt"
    assert scene.record(named, "processed", "My Policy.txt.meta.json")["filename"] == "My Policy.txt"
    assert (scene.incoming.parent / "processed" / "My Policy.txt").exists()


def test_a_file_found_before_its_message_goes_by_the_messages_name(scene: Outsider) -> None:
    """Q69: who watches the folder was first; file and record are under the message's name all the same."""
    assert scene.program("queue", "pause", "--config", "client.yaml").code == 0
    (scene.incoming / "upload-18.txt").write_bytes(b"Found before anybody asked for it.")
    scene.until("it was found", lambda: scene.bare.call("LLEN", f"{QUEUE}:normal") == 1)
    job = scene.push(scene.message(28, "upload-18.txt", filename="Late.txt"))
    assert scene.program("queue", "resume", "--config", "client.yaml").code == 0

    assert scene.record(job, "processed", "Late.txt.meta.json")["filename"] == "Late.txt"
    processed = scene.incoming.parent / "processed"
    scene.until("it has one name", lambda: not (processed / "upload-18.txt.meta.json").exists())
    assert ((processed / "Late.txt").exists(), (processed / "upload-18.txt").exists()) == (True, False)


@pytest.mark.parametrize(
    ("number", "code"), [(23, "ERR_COLLECTION_UNKNOWN"), (24, "ERR_SOURCE_FORBIDDEN")], ids=["rag id", "path"]
)
def test_what_may_not_be_asked_is_told_in_its_own_hash(scene: Outsider, number: int, code: str) -> None:
    """Q366, ruling 14: every documented field is there, and the letter holds the exact bytes."""
    job = f"rag-{POLICIES}-1704882600-{number:08x}"
    told = scene.hash(job)

    assert sorted(told) == sorted(STATUS)
    assert (told["job_id"], told["status"], bool(told["error"])) == (job, "failed", True)
    (letter,) = [each for each in scene.letters() if job in each["message"]]
    assert (letter["code"], letter["reason"]) == (code, told["error"])
    assert 0 < scene.bare.call("TTL", f"rag:ingest:job:{job}") <= WEEK


def test_what_is_no_message_costs_nobody_anything(scene: Outsider) -> None:
    """Q474-Q478: the dead letter has it byte for byte, and everything else was served."""
    assert "{torn" in [each["message"] for each in scene.letters()]
    assert scene.bare.call("TYPE", DEAD) == b"list"


def test_a_hundred_jobs_and_two_workers_do_not_conflict(scene: Outsider) -> None:
    """Q403-Q418, Q540, Q541: each is done once, the lists are empty, nobody holds anything."""
    ends = [scene.hash(f"load-{number}") for number in range(LOAD)]

    assert {(end["status"], end["retry_count"], end["rag_id"]) for end in ends} == {("done", "0", FAQ)}
    assert [scene.bare.call("LLEN", name) for name in (QUEUE, *LISTS)] == [0] * 5
    assert scene.bare.call("KEYS", "jobqueue:worker:*:processing") == []
    done = [json.loads(each) for each in scene.bare.call("LRANGE", "rag:ingest:completed", 0, -1)]
    assert sorted(each["id"] for each in done if each.get("id", "").startswith("load-")) == sorted(
        f"load-{number}" for number in range(LOAD)
    )


def test_an_ended_job_is_gone_after_seven_days(scene: Outsider) -> None:
    """Q219-Q226."""
    key = f"rag:ingest:job:rag-{POLICIES}-1704882600-00000001"

    assert WEEK - 600 < scene.bare.call("TTL", key) <= WEEK
    assert WEEK - 600 < scene.bare.call("TTL", f"{key}:ttl") <= WEEK
    assert re.fullmatch(ISO, scene.bare.call("GET", f"{key}:ttl").decode())


def test_further_lists_are_served_alike(scene: Outsider) -> None:
    """Q480-Q494, W81-W92: by priority, by collection, and in the worker's shape."""
    for job in ("by-high", "by-normal", "by-low", f"by-{FAQ}", "worker-shape"):
        told = scene.hash(job)
        assert (told["status"], told["rag_id"], told["filename"]) == ("done", FAQ, f"{job}.md")
    assert scene.hash("worker-shape")["submitted_at"] == "2025-01-10T20:15:30.123Z"


def test_workers_beat_under_the_documented_key(scene: Outsider) -> None:
    """Q432, W102-W105: fresh enough for whoever looks for the last five seconds."""

    def lives() -> list[int]:
        return [scene.bare.call("TTL", key) for key in scene.bare.call("KEYS", "worker:hb:*")]

    assert max(lives()) <= 9
    scene.until("both have beaten lately", lambda: [4 < left <= 9 for left in lives()] == [True] * 2)


def test_the_same_id_again_changes_nothing(scene: Outsider) -> None:
    """Ruling 5: the hash stays as it is, and nothing runs."""
    before = scene.hash("worker-shape")
    scene.push({"id": "worker-shape", "filepath": str(scene.papers / "worker-shape.md")})
    scene.until("it was looked at", lambda: scene.bare.call("LLEN", QUEUE) == 0)
    time.sleep(0.2)

    assert scene.hash("worker-shape") == before


def test_the_command_line_tells_what_the_hash_tells(scene: Outsider) -> None:
    """Q451-Q462, Q500-Q507: status of a job, of the queue, and a submit that prints its id."""
    job = f"rag-{POLICIES}-1704882600-00000001"
    told, shown = scene.hash(job), scene.cli("ingest", "status", "--job", job)
    for field in ("job_id", "rag_id", "filename", "status", "submitted_at"):
        assert shown[field] == told[field]
    assert shown["chunks_created"] == int(told["chunks_created"])
    queue = scene.cli("queue", "status")
    assert (queue["workers_alive"], queue["counts"]["ready"]) == (2, 0)
    assert queue["counts"]["failed"] >= 3

    path = scene.papers / "own.txt"
    path.write_text("Handed in by the command line.")
    said = scene.program(
        "ingest", "submit", "--rag", FAQ, "--path", str(path), "--wait", "--config", "client.yaml"
    )
    assert said.code == 0, said.err
    job = said.out.split()[0]
    assert re.fullmatch(rf"rag-{FAQ}-\d{{10}}-[0-9a-f]{{8}}", job)
    assert (scene.hash(job)["status"], scene.hash(job)["filename"]) == ("done", "own.txt")
    pushed = [json.loads(each) for each in scene.bare.call("LRANGE", "rag:ingest:completed", 0, -1)]
    (message,) = [each for each in pushed if each.get("job_id") == job]
    assert (message["rag_id"], message["source_path"], message["filename"]) == (FAQ, str(path), "own.txt")
    assert (message["source_type"], message["submitted_by"]) == ("txt", "cli")
    assert (message["retry_count"], message["max_retries"]) == (0, 3)
    assert message["options"] == {"reindex": False, "skip_validation": False, "preserve_metadata": True}


def test_metrics_have_the_documented_names_and_labels(scene: Outsider) -> None:
    """W127-W141: every name, queue as their only label but for the reason, no more than fifty values."""
    names = {
        *("jobs_produced_total", "jobs_consumed_total", "jobs_completed_total", "jobs_failed_total"),
        *("jobs_retried_total", "jobs_dead_letter_total", "job_processing_duration_seconds_bucket"),
        *("job_processing_duration_seconds_sum", "job_processing_duration_seconds_count"),
        *("queue_length", "circuit_breaker_state", "reaper_jobs_moved_total"),
    }
    scene.until(
        "ends were counted",
        lambda: scene.scrape().by_queue("jobs_dead_letter_total").get("normal", 0) >= 3,
    )
    numbers = scene.scrape()

    assert {name for name, _ in numbers.samples} == names
    for name, labels in numbers.samples:
        extra = {"jobs_failed_total": {"reason"}, "job_processing_duration_seconds_bucket": {"le"}}
        wanted = set() if name.startswith("reaper") else {"queue"} | extra.get(name, set())
        assert dict(labels).keys() == wanted
    queues = {dict(labels)["queue"] for _, labels in numbers.samples if dict(labels).get("queue")}
    assert queues == {"high", "normal", "low", "other"}
    assert numbers.by_queue("jobs_completed_total")["low"] == LOAD + 1
    assert numbers.by_queue("jobs_produced_total")["high"] >= 2
    assert numbers.by_reason().keys() == {"permanent"}
    assert numbers.by_queue("jobs_failed_total") == numbers.by_queue("jobs_dead_letter_total")
    assert numbers.by_queue("queue_length") == {}
    assert numbers.by_queue("circuit_breaker_state") == {}
    assert [fetched(scene.port, page)[0] for page in ("/healthz", "/readyz", "/other")] == [200, 200, 404]


def test_at_the_end_workers_leave_nothing_and_logs_keep_to_their_keys(stopped: Outsider) -> None:
    """Q373, W107-W110, W145: no key of a worker is left; JSON with canonical keys, nobody's text in it."""
    assert stopped.bare.call("KEYS", "worker:hb:*") == []
    assert stopped.bare.call("KEYS", "jobqueue:worker:*:processing") == []
    lines = [json.loads(line) for line in stopped.log if line.startswith("{")]
    assert lines
    for line in lines:
        assert {"level", "ts", "msg"} <= line.keys() <= LOG_KEYS
    (told,) = [line for line in lines if line.get("job_id") == f"rag-{POLICIES}-1704882600-{20:08x}"]
    assert (told["level"], told["queue"], told["worker_id"] != "") == ("warning", "normal", True)
    assert told["msg"] == "attempt 1 at a file failed with ERR_PDF_INVALID"
    said = "\n".join(stopped.log)
    for secret in ("thirty days", "same words", "Badges", "{torn"):
        assert secret not in said


def test_spans_continue_the_trace_of_the_message(stopped: Outsider) -> None:
    """W146: one for each attempt, with queue, job and outcome; others begin a trace of their own."""
    spans = {str(attributes_of(span)["job_id"]): span for span in stopped.collector.spans}

    span = spans["worker-shape"]
    told = attributes_of(span)
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, SPAN)
    assert (told["queue"], told["outcome"]) == ("high", "done")
    failed = attributes_of(spans[f"rag-{POLICIES}-1704882600-{20:08x}"])
    assert (failed["outcome"], failed["error.type"], failed["queue"]) == (
        "failed",
        "ERR_PDF_INVALID",
        "normal",
    )
    assert len({spans[f"load-{number}"].trace_id for number in range(LOAD)}) == LOAD
