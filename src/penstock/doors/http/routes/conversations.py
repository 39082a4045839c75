"""Conversations: questions, and answers that stream to every tab and end whatever happens."""

from __future__ import annotations

import asyncio
import base64
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Path, Query, Request, Response, status

from penstock.answer.opening import changed, known_conversation, opened
from penstock.doors.http.description import MISSING
from penstock.doors.http.etags import (
    TAGGED_IF_UNCHANGED,
    UNLESS_KNOWN,
    check_unchanged,
    tagged,
    with_tag,
)
from penstock.doors.http.house import ID_LENGTH_MAX, Admitting, Asker, House, In, chosen
from penstock.doors.http.preferences import RespondAsync
from penstock.doors.http.quotas import check_conversations
from penstock.doors.http.repeats import Repeatable, check_one_key
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
from penstock.model.instants import instant
from penstock.model.requests import fingerprint_of
from penstock.ports.database import Transaction

router = APIRouter(route_class=Admitting, prefix="/conversations", tags=["conversations"])
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
        description="Posting the same question again under the same key gives what is there and changes"
        " nothing; another question is refused.",
    ),
]


async def workspace_talked_in(house: In, asker: Asker, conversation_id: ConversationName) -> Workspace:
    """The asker's workspace that holds the conversation; another's conversation is not there."""
    found = await house.store.register.talked_in(asker.user, ConversationId(conversation_id))
    if found is None:
        raise _unknown()
    return found


Talked = Annotated[Workspace, Depends(workspace_talked_in)]


@router.get("", responses=MISSING)
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


@router.post("", status_code=status.HTTP_201_CREATED, response_model=ConversationSaid, responses=MISSING)
async def open_conversation(
    house: In, asker: Asker, asked: ConversationAsked, repeatable: Repeatable
) -> Response:
    """Begin one."""
    mark = fingerprint_of("open conversation", asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    here = await chosen(house, asker, asked.workspace_id)

    def work(tx: Transaction) -> ConversationSaid:
        begun = opened(
            tx,
            here.id,
            title=asked.title,
            collections=tuple(asked.collections),
            documents=tuple(map(DocumentId, asked.documents)),
        )
        check_conversations(tx, house.settings.http, here)
        return _conversation(begun)

    return await repeatable.answered(mark, status.HTTP_201_CREATED, work)


@router.get("/{conversation_id}", response_model=ConversationSaid, **UNLESS_KNOWN)
async def conversation(
    request: Request, house: In, here: Talked, conversation_id: ConversationName
) -> Response:
    """One of them."""
    return tagged(request, _conversation(await _known(house, here, conversation_id)))


@router.patch("/{conversation_id}", response_model=ConversationSaid, **TAGGED_IF_UNCHANGED)
async def change_conversation(
    request: Request, house: In, here: Talked, conversation_id: ConversationName, asked: ConversationChanged
) -> Response:
    """Give it another title, or let its next questions look at something else; all of it or nothing."""

    def work(tx: Transaction) -> ConversationSaid:
        now = known_conversation(tx, here.id, ConversationId(conversation_id))
        check_unchanged(request, _conversation(now))
        return _conversation(
            changed(
                tx,
                now,
                title=asked.title,
                collections=None if asked.collections is None else tuple(asked.collections),
                documents=None if asked.documents is None else tuple(map(DocumentId, asked.documents)),
            )
        )

    return with_tag(await house.store.write(work))


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
    dependencies=[Depends(check_one_key)],
)
async def post_message(
    house: In,
    here: Talked,
    conversation_id: ConversationName,
    asked: MessageAsked,
    response: Response,
    is_async: RespondAsync,
    key: Key = None,
) -> PostedSaid:
    """Ask: the answer in full, or 202 with an answer still to come where that is preferred.

    Asked again under its key at a process that does not write the answer, it is 202 until that has ended.
    """
    posted = await house.chat.post(here.id, ConversationId(conversation_id), asked.content, key=key)
    answer = await _written(house, here, posted.answer, response, wait=not is_async)
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
    repeatable: Repeatable,
    is_async: RespondAsync,
) -> MessageSaid:
    """Have the question of an answer answered again; the earlier answers stay."""
    found = await _known_message(house, here, conversation_id, message_id)
    told = await repeatable.once(
        fingerprint_of("regenerate", here.id, found.id),
        status.HTTP_202_ACCEPTED,
        lambda tx: _message(house.chat.regenerate_in(tx, here.id, found.id)),
    )
    added = MessageSaid.model_validate_json(told.body).id
    again = await _known_message(house, here, conversation_id, added)
    return _message(await _written(house, here, again, response, wait=not is_async))


async def _written(
    house: House, here: Workspace, answer: Message, response: Response, *, wait: bool
) -> Message:
    """The answer, once it has ended where that is waited for; it goes on if the caller leaves.

    One that another process writes is not waited for: as long as it has not ended, that is told.
    """
    if answer.status.is_final:
        return answer
    task = house.chat.start(answer.id, house.show(here), whose=here.owner)
    if not wait:
        response.status_code = status.HTTP_202_ACCEPTED
        return answer
    await asyncio.wait({task})  # it is cancelled where the process ends, and the answer says so
    ended = await house.store.transcript.message(here.id, answer.id) or answer
    if not ended.status.is_final:
        response.status_code = status.HTTP_202_ACCEPTED
    return ended


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


def _conversation(conversation: Conversation) -> ConversationSaid:
    return ConversationSaid.model_validate(conversation.facts())


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
