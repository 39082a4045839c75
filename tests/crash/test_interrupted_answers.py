"""An answer whose process is killed ends in an error within ten seconds, and can be written anew."""

import asyncio
import contextlib
import json
import os
import re
import signal
import time

import httpx

from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE
from penstock.model.conversations import ConversationId
from penstock.wiring.store import open_store
from tests.support.endpoint import fake_endpoint, streamed
from tests.support.ingested import a_collection, ingested
from tests.support.processes import PATIENCE, Plant, Row
from tests.support.stalls import Machine

PROMISED = 10.0
ADDRESS = re.compile(r"the API answers at (http://\S+/api)")


def furnished(plant: Plant) -> ConversationId:
    """A document about keys, and a conversation."""

    async def furnish() -> ConversationId:
        async with open_store(plant.settings()) as store:
            await a_collection(store)
            note = plant.folder / "note.txt"
            note.write_text("A lost key costs forty crowns.", encoding="utf-8")
            await ingested(store, plant.data, note, ["A lost key costs forty crowns."])
            return (await store.write(lambda tx: tx.conversations.open(LOCAL_WORKSPACE))).id

    return asyncio.run(furnish())


def answers(plant: Plant) -> list[Row]:
    return plant.rows("SELECT * FROM messages WHERE role = 'ai' ORDER BY number")


def test_a_killed_answer_ends_and_is_written_anew(plant: Plant, machine: Machine) -> None:
    """In the middle of its words: they stay, the error and its event are there, the next try goes well."""
    with fake_endpoint(
        streamed(["Forty crowns [1]", ", the "], hang=True), streamed(["Forty crowns [1]."])
    ) as endpoint:
        plant.choose(answerer=endpoint.url, answering_model="fake")
        talk = furnished(plant)
        talker = plant.start("-m", "tests.support.talker", talk)
        tree = plant.worker()
        plant.wait_until(
            lambda: any("Forty" in row["content"] for row in answers(plant)), "words are kept", talker
        )

        killed_at = time.monotonic()
        os.kill(talker.pid, signal.SIGKILL)
        plant.wait_until(lambda: answers(plant)[0]["status"] == "error", "the answer has ended", tree)
        took, lost = time.monotonic() - killed_at, machine.lost(killed_at)

        (interrupted,) = answers(plant)
        assert took < PROMISED + lost
        assert interrupted["error_code"] == "ERR_INTERRUPTED"
        assert interrupted["content"].rstrip() == "Forty crowns, the"  # nobody knows any more what [1] was
        told = plant.rows(
            "SELECT type, payload_json FROM events WHERE user_id = ? ORDER BY seq DESC LIMIT 1", LOCAL_USER
        )[0]
        payload = json.loads(told["payload_json"])
        assert (told["type"], payload["status"], payload["error_code"]) == (
            "message.status_updated",
            "error",
            "ERR_INTERRUPTED",
        )
        assert payload["message_id"] == interrupted["message_id"]

        again = plant.start("-m", "tests.support.talker", talk, interrupted["message_id"])
        assert again.wait() == 0
        first, second = answers(plant)
        assert (first["status"], second["status"]) == ("error", "done")
        assert (second["content"], second["reply_to"]) == ("Forty crowns [1].", first["reply_to"])
        assert tree.stop() == 0


def test_an_answer_ends_although_every_serving_process_dies(plant: Plant, machine: Machine) -> None:
    """Without a worker beside, and with nobody who lives long enough: whoever keeps them ends the answer."""
    with fake_endpoint(streamed(["Forty crowns [1]", ", the "], hang=True)) as endpoint:
        plant.choose(answerer=endpoint.url, answering_model="fake")
        talk = furnished(plant)
        server = plant.program("serve")
        plant.wait_until(lambda: ADDRESS.search(server.said()) is not None, "requests are answered", server)
        (address,) = ADDRESS.findall(server.said())
        asked = httpx.post(
            f"{address}/conversations/{talk}/messages",
            json={"content": "lost key"},
            headers={"Prefer": "respond-async"},
            timeout=PATIENCE,
        )
        assert asked.status_code == 202
        plant.wait_until(
            lambda: any("Forty" in row["content"] for row in answers(plant)), "words are kept", server
        )

        def ended() -> bool:
            for pid in server.children():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return bool(answers(plant)[0]["status"] == "error")

        killed_at = time.monotonic()
        plant.wait_until(ended, "the answer has ended", server)
        assert time.monotonic() - killed_at < PROMISED + machine.lost(killed_at)
        assert answers(plant)[0]["error_code"] == "ERR_INTERRUPTED"
        assert server.stop() == 0
