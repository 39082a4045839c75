"""Conversations: questions, and answers that stream to every tab and end whatever happens."""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Response, status

from penstock.doors.http.house import ID_LENGTH_MAX, Asker, House, In, chosen
from penstock.doors.http.shapes import instant
from penstock.doors.http.talk_shapes import (
    ConversationAsked,
    ConversationChanged,
    ConversationPage,
    ConversationSaid,
    MessageAsked,
    MessagePage,
    MessageSaid,
    PostedSaid,
    StoppedSaid,
)
from penstock.model.accounts import Workspace
from penstock.model.catalogue import DocumentId
from penstock.model.conversations import PAGE_MAX, Bookmark, Conversation, ConversationId, Message, MessageId
from penstock.model.errors import Refused

router = APIRouter(prefix="/conversations", tags=["conversations"])
WorkspaceGiven = Annotated[
    str | None, Query(max_length=ID_LENGTH_MAX, description="May be left out by who has only one.")
]
ConversationName = Annotated[str, Path(min_length=1, max_length=ID_LENGTH_MAX)]
MessageName = Annotated[str, Path(min_length=1, max_length=ID_LENGTH_MAX)]
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX)]
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Posting again under the same key gives what is there and changes nothing.",
    ),
]
Prefer = Annotated[
    str | None, Header(description="`respond-async` has the question answered with 202 at once.")
]


async def workspace_talked_in(house: In, asker: Asker, conversation_id: ConversationName) -> Workspace:
    """The asker's workspace that holds the conversation; another's conversation is not there."""
    found = await house.store.register.talked_in(asker.user, ConversationId(conversation_id))
    if found is None:
        raise _unknown()
    return found


Talked = Annotated[Workspace, Depends(workspace_talked_in)]


@router.get("")
async def conversations(
    house: In,
    asker: Asker,
    workspace_id: WorkspaceGiven = None,
    limit: Limit = 50,
    after: Annotated[str | None, Query(max_length=200, description="`next` of the page before.")] = None,
) -> ConversationPage:
    """A workspace's conversations, those with the latest news first."""
    here = await chosen(house, asker, workspace_id)
    before = None if after is None else _bookmark(after)
    there = await house.store.transcript.conversations(here.id, before=before, limit=limit)
    return ConversationPage(
        items=[_conversation(each) for each in there],
        next=_cursor(there[-1].bookmark) if len(there) == limit else None,
    )


@router.post("", status_code=status.HTTP_201_CREATED)
async def open_conversation(house: In, asker: Asker, asked: ConversationAsked) -> ConversationSaid:
    """Begin one."""
    here = await chosen(house, asker, asked.workspace_id)
    return _conversation(
        await house.chat.open(
            here.id,
            title=asked.title,
            collections=tuple(asked.collections),
            documents=tuple(map(DocumentId, asked.documents)),
        )
    )


@router.get("/{conversation_id}")
async def conversation(house: In, here: Talked, conversation_id: ConversationName) -> ConversationSaid:
    """One of them."""
    return _conversation(await _known(house, here, conversation_id))


@router.patch("/{conversation_id}")
async def change_conversation(
    house: In, here: Talked, conversation_id: ConversationName, asked: ConversationChanged
) -> ConversationSaid:
    """Give it another title, or let its next questions look at something else."""
    found = await _known(house, here, conversation_id)
    if asked.collections is not None or asked.documents is not None:
        collections = found.collections if asked.collections is None else tuple(asked.collections)
        documents = found.documents if asked.documents is None else tuple(map(DocumentId, asked.documents))
        found = await house.chat.rescope(here.id, found.id, collections=collections, documents=documents)
    if (title := asked.title) is not None:
        known = found.id
        found = await house.store.write(lambda tx: tx.conversations.rename(here.id, known, title))
    return _conversation(found)


@router.delete("/{conversation_id}", status_code=status.HTTP_204_NO_CONTENT)
async def remove_conversation(house: In, here: Talked, conversation_id: ConversationName) -> Response:
    """Remove it with all its messages."""
    name = ConversationId(conversation_id)
    if not await house.store.write(lambda tx: tx.conversations.remove(here.id, name)):
        raise _unknown()
    return Response(status_code=status.HTTP_204_NO_CONTENT)


@router.get("/{conversation_id}/messages")
async def messages(
    house: In,
    here: Talked,
    conversation_id: ConversationName,
    limit: Limit = 50,
    before: Annotated[int | None, Query(ge=1, le=10**9, description="Only messages before this one.")] = None,
    after: Annotated[int | None, Query(ge=0, le=10**9, description="Only messages after this one.")] = None,
) -> MessagePage:
    """Messages in order of number: the last ones, those before a number, or those after one."""
    found = await _known(house, here, conversation_id)
    there = await house.store.transcript.messages(here.id, found.id, before=before, after=after, limit=limit)
    return MessagePage(items=[_message(each) for each in there])


@router.post(
    "/{conversation_id}/messages",
    responses={202: {"model": PostedSaid, "description": "The answer is on its way."}},
)
async def post_message(
    house: In,
    here: Talked,
    conversation_id: ConversationName,
    asked: MessageAsked,
    response: Response,
    key: Key = None,
    prefer: Prefer = None,
) -> PostedSaid:
    """Ask: the answer in full, or 202 with an answer still to come where that is preferred."""
    posted = await house.chat.post(here.id, ConversationId(conversation_id), asked.content, key=key)
    answer = await _written(house, here, posted.answer, response, wait=not _is_async(prefer))
    return PostedSaid(question=_message(posted.question), answer=_message(answer))


@router.get("/{conversation_id}/messages/{message_id}")
async def message(
    house: In, here: Talked, conversation_id: ConversationName, message_id: MessageName
) -> MessageSaid:
    """One message; of an answer on its way, what is written so far."""
    return _message(await _known_message(house, here, conversation_id, message_id))


@router.post("/{conversation_id}/messages/{message_id}/stop")
async def stop(
    house: In, here: Talked, conversation_id: ConversationName, message_id: MessageName
) -> StoppedSaid:
    """Let an answer end now; what is written by then stays."""
    found = await _known_message(house, here, conversation_id, message_id)
    return StoppedSaid(stopped=await house.chat.stop(here.id, found.id))


@router.post(
    "/{conversation_id}/messages/{message_id}/regenerate",
    responses={202: {"model": MessageSaid, "description": "The answer is on its way."}},
)
async def regenerate(
    house: In,
    here: Talked,
    conversation_id: ConversationName,
    message_id: MessageName,
    response: Response,
    prefer: Prefer = None,
) -> MessageSaid:
    """Have the question of an answer answered again; the earlier answers stay."""
    found = await _known_message(house, here, conversation_id, message_id)
    again = await house.chat.regenerate(here.id, found.id)
    return _message(await _written(house, here, again, response, wait=not _is_async(prefer)))


async def _written(
    house: House, here: Workspace, answer: Message, response: Response, *, wait: bool
) -> Message:
    """The answer, once it has ended where that is waited for; it goes on if the caller leaves."""
    task = house.chat.start(answer.id, house.show(here), whose=here.owner)
    if not wait:
        response.status_code = status.HTTP_202_ACCEPTED
        return answer
    await asyncio.wait({task})  # it is cancelled where the process ends, and the answer says so
    ended = await house.store.transcript.message(here.id, answer.id)
    return answer if ended is None else ended


async def _known(house: House, here: Workspace, name: str) -> Conversation:
    found = await house.store.transcript.conversation(here.id, ConversationId(name))
    if found is None:
        raise _unknown()
    return found


async def _known_message(house: House, here: Workspace, conversation: str, name: str) -> Message:
    found = await house.store.transcript.message(here.id, MessageId(name))
    if found is None or found.conversation != conversation:
        raise Refused("there is no such message", code="ERR_MESSAGE_UNKNOWN")
    return found


def _unknown() -> Refused:
    return Refused("there is no such conversation", code="ERR_CONVERSATION_UNKNOWN")


def _is_async(prefer: str | None) -> bool:
    return prefer is not None and "respond-async" in [word.strip().lower() for word in prefer.split(",")]


def _conversation(conversation: Conversation) -> ConversationSaid:
    return ConversationSaid(
        id=conversation.id,
        workspace_id=conversation.workspace,
        title=conversation.title,
        collections=list(conversation.collections),
        documents=list(conversation.documents),
        messages=conversation.messages,
        created_at=instant(conversation.created_at),
        updated_at=instant(conversation.updated_at),
    )


def _message(message: Message) -> MessageSaid:
    return MessageSaid.model_validate(message.facts())


def _cursor(bookmark: Bookmark) -> str:
    return base64.urlsafe_b64encode(f"{bookmark.updated_at!r} {bookmark.id}".encode()).decode()


def _bookmark(cursor: str) -> Bookmark:
    try:
        at, _, name = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        instant(float(at))
        return Bookmark(updated_at=float(at), id=ConversationId(name))
    except (ValueError, OverflowError, OSError):
        raise Refused("`after` is not the `next` of a page", code="ERR_CURSOR_INVALID") from None
