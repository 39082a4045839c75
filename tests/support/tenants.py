"""Two users of one server: one with one of everything, all of it holding a word nobody else may ever see."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any

import httpx

from tests.support.command_line import PATIENCE
from tests.support.live import a_token, a_user
from tests.support.served import Served
from tests.support.tokens import ISSUER, SECRET

CANARY = "kestrelplume"
SIGNED_IN: Mapping[str, str] = {
    "PENSTOCK_AUTH_MODE": "jwt",
    "PENSTOCK_AUTH_SECRET": SECRET,
    "PENSTOCK_AUTH_ISSUER": ISSUER,
    "PENSTOCK_HTTP_REQUESTS_PER_MINUTE": "0",
    "PENSTOCK_OBSERVABILITY_LOG_LEVEL": "debug",
}
"""Tokens of the tests are read, nobody is slowed down, and everything that can be logged is."""


class Tenant:
    """A user with a workspace, and the ids of what is in it, by kind."""

    def __init__(self, served: Served, word: str) -> None:
        self.user = a_user()
        self.token = a_token(self.user)
        self.client = served.client(self.token)
        self.word = word
        self.ids: dict[str, str] = {}

    def settle(self) -> None:
        """Put one of everything in, and wait until it has ended."""
        made = self._said(self.client.post("/workspaces", json={"name": self.word}), 201)
        self.ids["workspace"] = made["id"]
        at = f"/workspaces/{made['id']}"
        name = f"c{uuid.uuid4().hex[:12]}"
        self._said(self.client.post(f"{at}/collections", json={"name": name, "description": self.word}), 201)
        self.ids["collection"] = name
        for ending, words in ((".md", f"# Notes\n\nThe password is {self.word}.\n"), (".pdf", "%PDF-1.7 no")):
            files = {"files": (f"{self.word}{ending}", words.encode())}
            taken = self._said(
                self.client.post(f"{at}/documents", data={"collection": name}, files=files), 202
            )
            self.ids.setdefault("document", taken["items"][0]["document_id"])
            self.ids.setdefault("job", taken["items"][0]["job_id"])
            self.ended(f"{at}/documents/{taken['items'][0]['document_id']}")
        (parse, *_) = self._said(self.client.get(f"{at}/documents/{self.ids['document']}"), 200)["stages"]
        self.ids["stage"] = parse["job_id"]
        talk = self._said(
            self.client.post(
                "/conversations", json={"workspace_id": made["id"], "title": self.word, "collections": [name]}
            ),
            201,
        )
        self.ids["conversation"] = talk["id"]
        posted = self._said(
            self.client.post(
                f"/conversations/{talk['id']}/messages",
                json={"content": f"What is the password, {self.word}?"},
            ),
            200,
        )
        self.ids["message"] = posted["answer"]["id"]

    def _said(self, reply: httpx.Response, status: int) -> Any:
        assert reply.status_code == status, reply.text
        return reply.json()

    def ended(self, path: str) -> None:
        """Wait until a document is ingested or in error."""
        deadline = time.monotonic() + PATIENCE
        while self._said(self.client.get(path), 200)["status"] not in ("ingested", "error"):
            assert time.monotonic() < deadline, path
            time.sleep(0.05)


def unknown_like(known: str) -> str:
    """A value of the same form that names nothing."""
    try:
        version = uuid.UUID(known).version
    except ValueError:
        return known[:1] + uuid.uuid4().hex[: len(known) - 1]
    drawn = str(uuid.uuid4())
    return f"{drawn[:14]}{version}{drawn[15:]}"
