"""Somebody who uses the API by hand: raw HTTP, raw frames, and a look at what they left in the database."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.support.command_line import PATIENCE
from tests.support.live import a_token, a_user
from tests.support.raw_socket import RawTab, raw_tab
from tests.support.served import Served

BOUNDARY = "a-boundary"
"""Between the parts of a form."""


class Person:
    """Somebody who is signed in, with a workspace and a collection."""

    def __init__(self, served: Served, folder: Path) -> None:
        self.served = served
        self.folder = folder
        self.user = a_user()
        self.token = a_token(self.user)
        (workspace,) = self.ask("GET", "/workspaces")["items"]
        self.at = f"/workspaces/{workspace['id']}"
        self.workspace: str = workspace["id"]
        self.ask("POST", f"{self.at}/collections", {"name": "papers"})

    def ask(self, method: str, path: str, body: object = None, *, form: bytes | None = None) -> Any:
        """A request by hand; what was answered."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if form is not None:
            headers["Content-Type"] = f"multipart/form-data; boundary={BOUNDARY}"
        elif body is not None:
            headers["Content-Type"] = "application/json"
        sent = form if form is not None else None if body is None else json.dumps(body).encode()
        with closing(HTTPConnection("127.0.0.1", self.served.port, timeout=PATIENCE)) as raw:
            raw.request(method, f"/api{path}", sent, headers)
            reply = raw.getresponse()
            said = reply.read()
        assert reply.status < 300, said
        return json.loads(said) if said else None

    def upload(self, name: str, data: bytes) -> str:
        """Send a file; its document's id."""
        parts = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="collection"\r\n\r\npapers\r\n'
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        )
        form = parts.encode() + data + f"\r\n--{BOUNDARY}--\r\n".encode()
        (taken,) = self.ask("POST", f"{self.at}/documents", form=form)["items"]
        document: str = taken["document_id"]
        return document

    @contextmanager
    def tab(self, since: int | None = None) -> Iterator[RawTab]:
        """A connection; one that asks for nothing missed has its place in the log when it is handed over."""
        with raw_tab(self.served.port, self.token, since=since) as tab:
            if since is None:
                assert tab.hear()["type"] == "ready"
            yield tab

    def log(self) -> list[tuple[int, str]]:
        """The log of this person, as it stands in the database."""
        return self.rows("SELECT seq, type FROM events WHERE user_id = ? ORDER BY seq", self.user)

    def rows(self, statement: str, *values: object) -> list[Any]:
        """What stands in the database."""
        with closing(sqlite3.connect(self.folder / "data" / "penstock.db", timeout=PATIENCE)) as db:
            return db.execute(statement, values).fetchall()
