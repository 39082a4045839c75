"""Questions outside conversations: in fair turns with everybody's, and as a stream of words."""

import json
import select
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse

import pytest

from tests.support.command_line import PATIENCE, Program, Terminal
from tests.support.endpoint import FakeEndpoint, fake_endpoint, streamed
from tests.support.person import Person
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("api_questions")
QUESTION = "What does a lost key cost?"
PLACES_EACH = 4
ON_THE_WAY_MAX = 20


@dataclass(frozen=True)
class Scene:
    """A server whose language model is a test's own."""

    program: Program
    served: Served
    model: FakeEndpoint

    def person(self) -> Person:
        """Somebody with a document to ask about."""
        person = Person(self.served, self.program.folder)
        document = person.upload("keys.md", b"# Keys\n\nA lost key costs forty crowns.\n")
        at = f"{person.at}/documents/{document}"
        until("the document is ingested", lambda: person.ask("GET", at)["status"] == "ingested")
        return person


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    program = Program(tmp_path_factory.mktemp("questions"))
    with fake_endpoint() as model:
        named = {"PENSTOCK_ANSWERER": model.url, "PENSTOCK_ANSWERING_MODEL": "fake"}
        with serving(program, "run", "--role=all", env={**SIGNED_IN, **named}) as served:
            yield Scene(program, served, model)


def asked(person: Person, *, accept: str = "application/json") -> HTTPConnection:
    """A question on its way; the answer is not waited for."""
    raw = HTTPConnection("127.0.0.1", person.served.port, timeout=PATIENCE)
    headers = {
        "Authorization": f"Bearer {person.token}",
        "Content-Type": "application/json",
        "Accept": accept,
    }
    raw.request("POST", "/api/query", json.dumps({"question": QUESTION}), headers)
    return raw


@contextmanager
def answered(raw: HTTPConnection) -> Iterator[HTTPResponse]:
    with closing(raw):
        yield raw.getresponse()


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"], ids=["whole", "streamed"])
def test_one_persons_slow_questions_stop_nobody_else(scene: Scene, accept: str) -> None:
    """Half of the places stay for others, what waits is bounded, and who leaves gives his place back."""
    ann, bo = scene.person(), scene.person()
    before = len(scene.model.requests)
    scene.model.script.extend(streamed([], hang=True) for _ in range(PLACES_EACH))
    slow = [asked(ann, accept=accept) for _ in range(ON_THE_WAY_MAX + 1)]
    until("her places are taken", lambda: len(scene.model.requests) == before + PLACES_EACH)

    with answered(asked(bo)) as reply:
        assert (reply.status, json.loads(reply.read())["text"]) == (200, "The answer is 42.")

    reply = the_one_refused(slow)
    assert (reply.status, json.loads(reply.read())["code"]) == (429, "ERR_ANSWERS_WAITING")
    assert int(reply.headers["retry-after"]) > 0
    for each in slow:
        each.close()
    scene.model.script.clear()
    until("she is answered again", lambda: is_answered(ann))


def the_one_refused(slow: list[HTTPConnection]) -> HTTPResponse:
    """Which of those that were asked at once came last is not known before; the answers of others begin."""
    waiting = list(slow)
    while True:
        told, _, _ = select.select([each.sock for each in waiting], [], [], PATIENCE)
        assert told, "all of them wait"
        (spoken, *_) = [each for each in waiting if each.sock in told]
        waiting.remove(spoken)
        reply = spoken.getresponse()
        if reply.status != 200:
            return reply


def is_answered(person: Person) -> bool:
    """Whether a question is; that others were given up is heard a moment later."""
    with answered(asked(person)) as reply:
        said = json.loads(reply.read())
        assert reply.status == 200 or said["code"] == "ERR_ANSWERS_WAITING", said
        return reply.status == 200 and said["text"] == "The answer is 42."


def test_a_question_is_seen_while_its_answer_is_still_written(scene: Scene) -> None:
    """Sections 4.1 and 4.3: both messages at once in another tab, then running, its words, and its end."""
    person = scene.person()
    talk = person.ask("POST", "/conversations", {"title": "Keys"})["id"]
    scene.model.script.append(streamed(["Forty "], hang=True))
    headers = {"Authorization": f"Bearer {person.token}", "Content-Type": "application/json"}
    at = f"/conversations/{talk}/messages"
    with person.tab() as tab, closing(HTTPConnection("127.0.0.1", person.served.port)) as raw:
        raw.request("POST", f"/api{at}", json.dumps({"content": QUESTION}), headers)
        said = tab.until(lambda said: said["type"] == "message.delta")
        created = [each["payload"]["message"] for each in tab.numbered() if each["type"] == "message.created"]
        assert [(each["role"], each["status"], each["content"]) for each in created] == [
            ("user", "done", QUESTION),
            ("ai", "pending", ""),
        ]
        answer = created[1]["id"]
        assert (said["payload"]["message_id"], said["payload"]["text"]) == (answer, "Forty")
        assert tab.numbered()[-1]["payload"]["status"] == "running"

        assert person.ask("POST", f"{at}/{answer}/stop") == {"stopped": True}
        ended = tab.until(lambda said: said["type"] == "message.status_updated")["payload"]
        assert (ended["status"], ended["content"], ended["error_code"]) == ("error", "Forty", "ERR_STOPPED")
        reply = raw.getresponse()
        assert (reply.status, json.loads(reply.read())["answer"]["status"]) == (200, "error")


def events(reply: HTTPResponse) -> list[tuple[str, object]]:
    """What a stream told, to its end."""
    lines = [line for line in reply.read().decode().split("\n") if line.startswith("data: ")]
    told = [json.loads(line.removeprefix("data: ")) for line in lines]
    return [(each["type"], each["payload"]) for each in told]


def test_an_answer_comes_word_by_word(scene: Scene) -> None:
    """Safe to show, with the whole at its end; what breaks off is told as a problem is."""
    person = scene.person()
    scene.model.script.append(streamed(["Forty <b", ">crowns [1]."]))
    with answered(asked(person, accept="text/event-stream")) as reply:
        assert (reply.status, reply.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        *deltas, (kind, whole) = events(reply)
    assert isinstance(whole, dict)
    assert {each for each, _ in deltas} == {"answer.delta"}
    words = "".join(str(payload["text"]) for _, payload in deltas if isinstance(payload, dict))
    assert (kind, whole["text"]) == ("answer", words)
    assert "< b>crowns" in words
    assert whole["citations"][0]["document"] == "keys.md"

    scene.model.script.extend([streamed(["Forty "], cut=True)] * 5)
    with answered(asked(person, accept="text/event-stream")) as reply:
        *_, (kind, problem) = events(reply)
    assert isinstance(problem, dict)
    assert (kind, problem["status"]) == ("problem", 503)
    scene.model.script.clear()


def test_a_stream_that_cannot_begin_is_a_problem_document(scene: Scene) -> None:
    """As any refusal: a status and a code, and no stream."""
    person = scene.person()
    headers = {"Authorization": f"Bearer {person.token}", "Accept": "text/event-stream"}
    with closing(HTTPConnection("127.0.0.1", person.served.port, timeout=PATIENCE)) as raw:
        body = json.dumps({"question": QUESTION, "collection": "nowhere"})
        raw.request("POST", "/api/query", body, {**headers, "Content-Type": "application/json"})
        reply = raw.getresponse()
        assert (reply.status, json.loads(reply.read())["code"]) == (404, "ERR_COLLECTION_UNKNOWN")


def test_the_command_line_shows_the_words_of_a_server_as_they_come(scene: Scene) -> None:
    """On a terminal, before the answer has ended; in a pipe the whole of it."""
    person = scene.person()
    named = {"PENSTOCK_SERVER": person.served.address, "PENSTOCK_TOKEN": person.token}
    program = Program(scene.program.folder / "afar")
    program.folder.mkdir()
    ask = ("ask", QUESTION)
    scene.model.script.append(streamed(["Forty ", "crowns"], hang=True))
    terminal = Terminal(program.command(*ask), program.environment(named), program.folder, 100)
    terminal.read_until(lambda text: "Forty crowns" in text)
    assert "Forty crowns" in terminal.text
    terminal.interrupt()
    terminal.wait()

    scene.model.script.append(streamed(["Forty ", "crowns [1]."]))
    terminal = Terminal(program.command(*ask), program.environment(named), program.folder, 100)
    assert terminal.wait() == 0
    assert terminal.text.count("Forty crowns [1].") == 1
    assert "keys.md" in terminal.text
    ran = program(*ask, env=named)
    assert (ran.code, ran.lines[0]) == (0, "The answer is 42.")
