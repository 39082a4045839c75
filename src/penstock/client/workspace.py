"""What can be done in one workspace: collections, documents, conversations, and questions besides."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from urllib.parse import quote

from penstock.client import following, talk
from penstock.client.files import Form, Progress, Sendable
from penstock.client.line import Request, look, once
from penstock.client.questions import ANSWER_SECONDS, Questions
from penstock.client.subscription import Subscription
from penstock.client.values import (
    Accepted,
    AcceptedPage,
    Collection,
    CollectionPage,
    Conversation,
    ConversationPage,
    Document,
    DocumentDetail,
    DocumentPage,
    Job,
    Message,
    MessagePage,
    Posted,
    RetriedPage,
)
from penstock.client.wishes import USUAL, Wishes

PATIENCE_SECONDS = 300.0
"""How long a subscription may be without a connection before it raises."""
PAGE = 200
FILES_AT_ONCE = 100
"""Files in one request; more are sent in several, each of them whole or not at all."""


class InWorkspace(Questions):
    """One workspace of a server; where none is named, the only one there is."""

    # Collections ---------------------------------------------------------------------------------

    async def collections(self) -> list[Collection]:
        """All of them, by name."""
        page = await self._line.ask(look(await self._at("collections")), CollectionPage)
        return list(page.items)

    async def collection(self, name: str) -> Collection:
        """One of them."""
        at = await self._at("collections", name)
        return await self._line.ask(look(at), Collection)

    async def create_collection(
        self, name: str, *, description: str = "", recipe: Mapping[str, int] | None = None
    ) -> Collection:
        """Make one; the same again changes nothing. A recipe says what is wanted otherwise than usual."""
        body = {"name": name, "description": description, "recipe": dict(recipe or {})}
        request = Request(method="POST", path=await self._at("collections"), body=body, repeats=True)
        return await self._line.ask(request, Collection)

    async def delete_collection(self, name: str) -> None:
        """Delete it with all its documents: out of every answer at once."""
        await self._line.tell(Request(method="DELETE", path=await self._at("collections", name)))

    # Documents in --------------------------------------------------------------------------------

    async def upload(
        self,
        *files: Sendable,
        collection: str,
        metadata: Mapping[str, object] | None = None,
        wishes: Wishes | None = None,
        key: str | None = None,
        progress: Progress = lambda _: None,
    ) -> list[Accepted]:
        """Send files, piece by piece; what was taken in, in their order, each once however often it was sent.

        A broken line is tried again unless a file is a stream, which cannot be read twice. With a `key` of
        your own the same call after a restart doubles nothing either. `progress` hears how many bytes more
        were sent.
        """
        key = key or uuid.uuid4().hex
        taken: list[Accepted] = []
        for start in range(0, len(files), FILES_AT_ONCE):
            request = Request(
                method="POST",
                path=await self._at("documents"),
                form=Form(
                    collection,
                    files[start : start + FILES_AT_ONCE],
                    metadata,
                    progress,
                    (wishes or USUAL).facts(again=start > 0),
                ),
                headers={"Idempotency-Key": f"{key}-{start}" if start else key},
                repeats=True,
                seconds=None,
            )
            taken += (await self._line.ask(request, AcceptedPage)).items
        return taken

    async def submit_text(
        self,
        content: str,
        *,
        collection: str,
        name: str,
        metadata: Mapping[str, object] | None = None,
        wishes: Wishes | None = None,
        key: str | None = None,
    ) -> Accepted:
        """Send a text as a document; once, however often it was sent."""
        said = {"collection": collection, "name": name, "content": content, "metadata": dict(metadata or {})}
        request = once(await self._at("documents", "text"), {**said, **(wishes or USUAL).facts()}, key)
        return (await self._line.ask(request, AcceptedPage)).items[0]

    # Documents -----------------------------------------------------------------------------------

    async def document(self, document_id: str) -> DocumentDetail:
        """One document with its stages and versions."""
        at = await self._at("documents", document_id)
        return await self._line.ask(look(at), DocumentDetail)

    async def documents(
        self,
        *,
        collection: str | None = None,
        status: str | None = None,
        name: str | None = None,
        sort: str = "created",
        descending: bool = True,
    ) -> AsyncGenerator[Document, None]:
        """Documents, page after page."""
        after: str | None = None
        while True:
            page = await self.documents_page(
                collection=collection,
                status=status,
                name=name,
                sort=sort,
                descending=descending,
                after=after,
                limit=PAGE,
            )
            for document in page.items:
                yield document
            if page.next is None:
                return
            after = page.next

    async def documents_page(
        self,
        *,
        collection: str | None = None,
        status: str | None = None,
        name: str | None = None,
        sort: str = "created",
        descending: bool = True,
        after: str | None = None,
        limit: int = 50,
    ) -> DocumentPage:
        """One page of them; `after` is the `next` of the page before."""
        given = {"collection": collection, "status": status, "name": name, "after": after}
        query: dict[str, str | int] = {word: value for word, value in given.items() if value is not None}
        query |= {"sort": sort, "order": "desc" if descending else "asc", "limit": limit}
        return await self._line.ask(look(await self._at("documents"), query), DocumentPage)

    async def delete_document(self, document_id: str) -> None:
        """Delete it: out of every answer at once."""
        await self._line.tell(Request(method="DELETE", path=await self._at("documents", document_id)))

    async def retry_document(self, document_id: str) -> Accepted:
        """Try a document in error again."""
        at = await self._at("documents", document_id, "retry")
        return await self._line.ask(once(at), Accepted)

    async def delete_documents(self, *document_ids: str) -> list[Accepted]:
        """Delete some: all of them, or none where one is not there."""
        request = once(await self._at("documents", "delete"), {"ids": list(document_ids)})
        return list((await self._line.ask(request, AcceptedPage)).items)

    async def retry_failed(self, *, collection: str | None = None, code: str | None = None) -> list[Accepted]:
        """Try documents in error again, of one collection, with one code, or all; a thousand a request.

        What was cancelled is tried again only where `code` names that.
        """
        at = await self._at("documents", "retry")
        body = {"collection": collection, "code": code}
        page = await self._line.ask(once(at, body), RetriedPage)
        done = list(page.items)
        while page.next is not None:
            page = await self._line.ask(once(at, {**body, "after": page.next}), RetriedPage)
            done += page.items
        return done

    async def job(self, job_id: str) -> Job:
        """One job."""
        at = await self._at("jobs", job_id)
        return await self._line.ask(look(at), Job)

    async def follow(self, *document_ids: str) -> AsyncGenerator[Document, None]:
        """Each document as it is now, then in each further status once and in order, until all have ended.

        Where it is further by the time it is read, all but `status` and `error` is already as it is then.
        """
        events = self.subscribe()
        async with aclosing(following.follow(document_ids, self.document, events)) as documents:
            async for document in documents:
                yield document

    async def wait(self, *document_ids: str, timeout: float | None = None) -> list[Document]:
        """The documents once all are ingested, in error or deleted; TimeoutError if that takes too long."""
        seen: dict[str, Document] = {}
        async with asyncio.timeout(timeout), aclosing(self.follow(*document_ids)) as documents:
            async for document in documents:
                seen[document.id] = document
        return [seen[each] for each in document_ids]

    # Conversations -------------------------------------------------------------------------------

    async def create_conversation(
        self, *, title: str = "", collections: Sequence[str] = (), documents: Sequence[str] = ()
    ) -> Conversation:
        """Begin one."""
        body = {
            "workspace_id": await self._id(),
            "title": title,
            "collections": list(collections),
            "documents": list(documents),
        }
        return await self._line.ask(once("/conversations", body), Conversation)

    async def conversations(self) -> AsyncGenerator[Conversation, None]:
        """All of them, those with the latest news first."""
        query: dict[str, str | int] = {"workspace_id": await self._id()}
        while True:
            page = await self._line.ask(look("/conversations", query), ConversationPage)
            for each in page.items:
                yield each
            if page.next is None:
                return
            query["after"] = page.next

    async def post(
        self,
        conversation_id: str,
        content: str,
        *,
        key: str | None = None,
        timeout: float = ANSWER_SECONDS,
    ) -> Posted:
        """Ask in a conversation and wait for the answer; the question is kept once, however often sent."""
        posted = await self._line.ask(_posting(conversation_id, content, key, seconds=timeout), Posted)
        return await talk.whole(posted, partial(self.message, conversation_id), timeout)

    async def stream(
        self, conversation_id: str, content: str, *, key: str | None = None
    ) -> AsyncGenerator[talk.Delta | Message, None]:
        """The same with the words as they are written; the last that comes is the whole message."""
        request = _posting(conversation_id, content, key, is_async=True)
        post = partial(self._line.ask, request, Posted)
        read = partial(self.message, conversation_id)
        async with aclosing(talk.stream(post, read, self.subscribe(passing=True))) as told:
            async for each in told:
                yield each

    async def conversation(self, conversation_id: str) -> Conversation:
        """One of them."""
        at = f"/conversations/{quote(conversation_id, safe='')}"
        return await self._line.ask(look(at), Conversation)

    async def messages(
        self, conversation_id: str, *, after: int | None = None, limit: int = 50
    ) -> list[Message]:
        """The last messages, or the next ones after a number."""
        query = {"limit": limit} if after is None else {"limit": limit, "after": after}
        page = await self._line.ask(look(_talk(conversation_id), query), MessagePage)
        return list(page.items)

    async def message(self, conversation_id: str, message_id: str) -> Message:
        """One message; of an answer on its way, what is written so far."""
        at = f"{_talk(conversation_id)}/{quote(message_id, safe='')}"
        return await self._line.ask(look(at), Message)

    # Events --------------------------------------------------------------------------------------

    def subscribe(
        self,
        since: int | str | None = None,
        *,
        passing: bool = False,
        patience: float | None = PATIENCE_SECONDS,
    ) -> Subscription:
        """Everything that happens to us on this server, from now on or behind the event or bookmark `since`.

        In `async with` it begins on entering, else when it is first read or is `ready`; then close it
        yourself. `passing` gives progress and words of answers too.
        """
        return self._line.subscribe(since, passing=passing, patience=patience)


def _posting(
    conversation_id: str, content: str, key: str | None, *, is_async: bool = False, seconds: float = 30.0
) -> Request:
    headers = {"Idempotency-Key": key or uuid.uuid4().hex}
    if is_async:
        headers["Prefer"] = "respond-async"
    return Request(
        method="POST",
        path=_talk(conversation_id),
        body={"content": content},
        headers=headers,
        repeats=True,
        seconds=seconds,
    )


def _talk(conversation_id: str) -> str:
    return f"/conversations/{quote(conversation_id, safe='')}/messages"
