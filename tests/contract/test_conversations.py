"""Conversations, their messages and the owners of answers: clauses H1 to H11."""

import asyncio
import json
from functools import partial
from typing import Any

import pytest

from penstock.model.accounts import Workspace
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE, DocumentId, WorkspaceId
from penstock.model.conversations import (
    HOLD_SECONDS,
    MESSAGES_MAX,
    PAGE_MAX,
    QUESTION_CHARACTERS_MAX,
    TITLE_CHARACTERS_MAX,
    UNFINISHED_MAX,
    UNFINISHED_OWNED_MAX,
    Conversation,
    ConversationId,
    Message,
    MessageStatus,
    Posted,
    Role,
    Standing,
    Written,
)
from penstock.model.errors import ErrorReport, Exhausted, Fault, Refused
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.support.clock import FakeClock

NEEDS_DATABASE = True
OWNER, OTHER = "one", "two"
ANNA = "0d9e7c11-6a0b-4a51-9d8e-2f3b4c5d6e7f"
ELSEWHERE = WorkspaceId("00000000-0000-4000-8000-0000000000ff")
WRITTEN = Written(
    content="Forty crowns [1].",
    citations_json='[{"number":1}]',
    usage_json='{"prompt_tokens":7,"completion_tokens":5}',
    metadata_json='{"kind":"grounded"}',
)
UNKNOWN = ("ERR_CONVERSATION_UNKNOWN", "ERR_MESSAGE_UNKNOWN", "ERR_WORKSPACE_UNKNOWN")


async def opened(store: Store, **chosen: Any) -> Conversation:
    return await store.write(lambda tx: tx.conversations.open(LOCAL_WORKSPACE, **chosen))


async def posted(store: Store, conversation: Conversation, text: str = "What does a key cost?") -> Posted:
    return await store.write(
        lambda tx: tx.conversations.post(LOCAL_WORKSPACE, conversation.id, text, owner=OWNER)
    )


async def taken(store: Store, answer: Message, owner: str = OWNER) -> bool:
    return await store.write(lambda tx: tx.conversations.take(answer.id, owner)) is not None


async def finished(store: Store, answer: Message, owner: str = OWNER) -> bool:
    return await store.write(lambda tx: tx.conversations.finish(answer.id, owner, WRITTEN))


async def found(store: Store, message: Message) -> Message:
    message_there = await store.transcript.message(LOCAL_WORKSPACE, message.id)
    assert message_there is not None
    return message_there


async def events(store: Store) -> list[tuple[str, dict[str, Any]]]:
    logged = await store.events_after(LOCAL_USER, 0)
    assert [each.seq for each in logged] == list(range(1, len(logged) + 1))
    return [(each.type, json.loads(each.payload_json)) for each in logged]


async def test_a_question_and_its_answer_are_stored_together(store: Store) -> None:
    """H1, H2, H3: one step, numbered, and both told as every listing shows them."""
    talk = await opened(store, title="Keys")

    both = await posted(store, talk)

    question, answer = both.question, both.answer
    assert (question.number, question.role, question.status) == (1, Role.USER, MessageStatus.DONE)
    assert (answer.number, answer.role, answer.status) == (2, Role.AI, MessageStatus.PENDING)
    assert (question.content, answer.content, answer.reply_to) == (
        "What does a key cost?",
        "",
        question.id,
    )
    assert await store.transcript.messages(LOCAL_WORKSPACE, talk.id) == [question, answer]
    created = ("conversation.created", {"workspace_id": LOCAL_WORKSPACE, "conversation": talk.facts()})
    assert await events(store) == [created] + [
        (
            "message.created",
            {"workspace_id": LOCAL_WORKSPACE, "conversation_id": talk.id, "message": each.facts()},
        )
        for each in (question, answer)
    ]


async def test_posting_under_the_same_key_again_changes_nothing(store: Store) -> None:
    """H1: a lost reply never makes two questions; another conversation may use the key for its own."""
    talk, other = await opened(store), await opened(store)

    def post(tx: Transaction, there: Conversation = talk) -> Posted:
        return tx.conversations.post(LOCAL_WORKSPACE, there.id, "How much?", owner=OWNER, key="once")

    first = await store.write(post)
    again = await store.write(post)
    elsewhere = await store.write(lambda tx: post(tx, other))

    assert again == first
    assert len(await store.transcript.messages(LOCAL_WORKSPACE, talk.id)) == 2
    assert elsewhere.question.conversation == other.id


@pytest.mark.parametrize("key", ["", "x" * 201, "gr\u00fcn", "a\nb"])
async def test_a_key_is_bounded(store: Store, key: str) -> None:
    """H10: some printable ASCII characters."""
    talk = await opened(store)

    with pytest.raises(Refused) as refused:
        await store.write(
            lambda tx: tx.conversations.post(LOCAL_WORKSPACE, talk.id, "How much?", owner=OWNER, key=key)
        )

    assert refused.value.code == "ERR_MESSAGE_KEY_INVALID"


async def test_an_answer_goes_its_way_and_each_step_is_told(store: Store, clock: FakeClock) -> None:
    """H3, H4, H5: pending, running, done; the last event carries all there is to show."""
    talk = await opened(store, collections=("rules",), documents=(DocumentId("d1"),))
    both = await posted(store, talk)
    clock.advance(1)

    task = await store.write(lambda tx: tx.conversations.take(both.answer.id, OWNER))
    assert task is not None
    assert (task.question, task.answer.status) == (both.question, MessageStatus.RUNNING)
    assert (task.conversation.collections, task.conversation.documents) == (("rules",), ("d1",))
    assert await finished(store, both.answer)

    done = await found(store, both.answer)
    assert (done.status, done.content, done.error) == (MessageStatus.DONE, WRITTEN.content, None)
    named = {
        "workspace_id": LOCAL_WORKSPACE,
        "conversation_id": talk.id,
        "message_id": both.answer.id,
        "error_code": None,
        "error_message": None,
    }
    assert (await events(store))[3:] == [
        (
            "conversation.renamed",
            {"workspace_id": LOCAL_WORKSPACE, "conversation_id": talk.id, "title": both.question.content},
        ),
        (
            "message.status_updated",
            {**named, "status": "running", "content": None, "citations": None}
            | {"usage": None, "metadata": None},
        ),
        (
            "message.status_updated",
            {**named, "status": "done", "content": WRITTEN.content, "citations": [{"number": 1}]}
            | {"usage": {"prompt_tokens": 7, "completion_tokens": 5}, "metadata": {"kind": "grounded"}},
        ),
    ]


async def test_one_owner_takes_an_answer(store: Store) -> None:
    """H4: of several that want it, the one it was posted for, once."""
    both = await posted(store, await opened(store))

    took = await asyncio.gather(*(taken(store, both.answer, who) for who in (OTHER, OWNER, OWNER)))

    assert sorted(took) == [False, False, True]
    assert not await finished(store, both.answer, OTHER)
    assert await finished(store, both.answer)


async def test_late_words_change_nothing(store: Store, clock: FakeClock) -> None:
    """H5, H6: an owner whose answer was healed cannot write any more."""
    both = await posted(store, await opened(store))
    await taken(store, both.answer)
    clock.advance(HOLD_SECONDS + 1)
    assert await store.transcript.heal() == [both.answer.id]
    before = await events(store)

    assert not await finished(store, both.answer)
    assert await store.transcript.renew(OWNER, {both.answer.id: "late"}) == {both.answer.id: Standing.LOST}

    healed = await found(store, both.answer)
    assert (healed.status, healed.content) == (MessageStatus.ERROR, "")
    assert await events(store) == before


@pytest.mark.parametrize("begun", [False, True])
async def test_a_dead_owners_answer_ends(home: Home, store: Store, clock: FakeClock, begun: bool) -> None:
    """H6: taken or not, once its owner is silent for too long; what it said so far stays."""
    both = await posted(store, await opened(store))
    if begun:
        await taken(store, both.answer)
    clock.advance(HOLD_SECONDS - 1)
    kept = await store.transcript.renew(OWNER, {both.answer.id: "Forty"})
    assert kept == {both.answer.id: Standing.HELD}
    clock.advance(HOLD_SECONDS - 1)
    assert await store.transcript.heal() == []

    clock.advance(1)
    after = await home.restart(store)
    assert await after.transcript.heal() == [both.answer.id]

    ended = await found(after, both.answer)
    assert (ended.status, ended.content) == (MessageStatus.ERROR, "Forty")
    assert ended.error is not None
    assert ended.error.code == "ERR_INTERRUPTED"
    kind, told = (await events(after))[-1]
    assert (kind, told["status"], told["error_code"]) == (
        "message.status_updated",
        "error",
        "ERR_INTERRUPTED",
    )
    assert told["content"] == "Forty"
    assert await after.transcript.heal() == []


async def test_what_stays_of_a_dead_owners_words_is_for_the_healer_to_say(
    store: Store, clock: FakeClock
) -> None:
    """H6: the answer and its event tell what he made of them."""
    both = await posted(store, await opened(store))
    await store.transcript.renew(OWNER, {both.answer.id: "Forty"})
    clock.advance(HOLD_SECONDS + 1)

    assert await store.transcript.heal(str.upper) == [both.answer.id]

    assert (await found(store, both.answer)).content == "FORTY"
    assert (await events(store))[-1][1]["content"] == "FORTY"


async def test_a_failed_answer_keeps_its_words(store: Store) -> None:
    """H5: the error's code and message stand beside what was written by then."""
    both = await posted(store, await opened(store))
    await taken(store, both.answer)
    error = ErrorReport(code="ERR_ANSWERER_DOWN", message="the connection broke")

    assert await store.write(
        lambda tx: tx.conversations.fail(both.answer.id, OWNER, error, Written(content="Half"))
    )

    failed = await found(store, both.answer)
    assert (failed.status, failed.content, failed.error) == (MessageStatus.ERROR, "Half", error)


async def test_stopping_before_it_begun(store: Store) -> None:
    """H7: a pending answer ends at once and is not there to be taken."""
    both = await posted(store, await opened(store))

    assert await store.write(lambda tx: tx.conversations.stop(LOCAL_WORKSPACE, both.answer.id))

    assert not await taken(store, both.answer)
    assert (await found(store, both.answer)).facts()["error_code"] == "ERR_STOPPED"


async def test_stopping_a_running_answer(store: Store, clock: FakeClock) -> None:
    """H6, H7: its owner is told; if that is dead, it ends as stopped. An ended one stays as it is."""
    both = await posted(store, await opened(store))
    await taken(store, both.answer)

    assert await store.write(lambda tx: tx.conversations.stop(LOCAL_WORKSPACE, both.answer.id))

    standing = await store.transcript.renew(OWNER, {both.answer.id: ""})
    assert standing == {both.answer.id: Standing.STOPPING}
    clock.advance(HOLD_SECONDS + 1)
    await store.transcript.heal()
    assert (await found(store, both.answer)).facts()["error_code"] == "ERR_STOPPED"
    assert not await store.write(lambda tx: tx.conversations.stop(LOCAL_WORKSPACE, both.answer.id))


async def test_a_question_is_answered_anew(store: Store) -> None:
    """H8: one answer at a time; earlier ones stay, and all name the question."""
    talk = await opened(store)
    both = await posted(store, talk)

    def again(tx: Transaction) -> Message:
        return tx.conversations.regenerate(LOCAL_WORKSPACE, both.answer.id, owner=OTHER)

    with pytest.raises(Refused) as refused:
        await store.write(again)
    assert refused.value.code == "ERR_ANSWER_UNFINISHED"
    await taken(store, both.answer)
    await finished(store, both.answer)

    second = await store.write(again)

    assert (second.number, second.reply_to, second.status) == (3, both.question.id, MessageStatus.PENDING)
    assert await taken(store, second, OTHER)
    listed = await store.transcript.messages(LOCAL_WORKSPACE, talk.id)
    assert [each.id for each in listed] == [both.question.id, both.answer.id, second.id]


async def test_a_question_is_no_answer(store: Store) -> None:
    """H8: only answers are written anew."""
    both = await posted(store, await opened(store))

    with pytest.raises(Refused) as refused:
        await store.write(
            lambda tx: tx.conversations.regenerate(LOCAL_WORKSPACE, both.question.id, owner=OWNER)
        )

    assert refused.value.code == "ERR_MESSAGE_UNKNOWN"


async def test_another_workspaces_conversation_is_not_there(store: Store) -> None:
    """H9: reading finds nothing, changing is refused as for an id nobody has."""
    talk = await opened(store)
    both = await posted(store, talk)
    before = await events(store)

    reader = store.transcript
    assert await reader.conversations(ELSEWHERE) == []
    assert await reader.conversation(ELSEWHERE, talk.id) is None
    assert await reader.messages(ELSEWHERE, talk.id) == []
    assert await reader.messages(ELSEWHERE, talk.id, after=0) == []
    assert await reader.message(ELSEWHERE, both.question.id) is None
    assert not await store.write(lambda tx: tx.conversations.remove(ELSEWHERE, talk.id))
    for change in (
        lambda tx: tx.conversations.rename(ELSEWHERE, talk.id, "mine"),
        lambda tx: tx.conversations.post(ELSEWHERE, talk.id, "How much?", owner=OWNER),
        lambda tx: tx.conversations.regenerate(ELSEWHERE, both.answer.id, owner=OWNER),
        lambda tx: tx.conversations.stop(ELSEWHERE, both.answer.id),
        lambda tx: tx.conversations.open(ELSEWHERE),
    ):
        with pytest.raises(Refused) as refused:
            await store.write(change)
        assert refused.value.code in UNKNOWN
    assert await events(store) == before


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x" * 100_000, "ERR_QUERY_INVALID"),
        ("x" * (QUESTION_CHARACTERS_MAX + 1), "ERR_QUERY_INVALID"),
        (" \n\x00\t ", "ERR_QUERY_INVALID"),
    ],
)
async def test_a_question_is_bounded(store: Store, text: str, code: str) -> None:
    """H10: refused with the limit, and nothing of it is stored."""
    talk = await opened(store)

    with pytest.raises(Refused) as refused:
        await posted(store, talk, text)

    assert refused.value.code == code
    assert await store.transcript.messages(LOCAL_WORKSPACE, talk.id) == []


async def test_odd_characters_are_kept_as_far_as_they_can_be(store: Store) -> None:
    """H10: emoji with joiners and lines stay; NUL and lone surrogates do not."""
    both = await posted(store, await opened(store), "Was kostet\ndas? \U0001f469\u200d\U0001f52c\x00\ud800!")

    assert both.question.content == "Was kostet\ndas? \U0001f469\u200d\U0001f52c  !"


async def test_titles_scopes_and_conversations_are_bounded(store: Store) -> None:
    """H10: each with a code of its own."""
    talk = await opened(store)
    tries: list[tuple[Any, str]] = [
        (
            lambda tx: tx.conversations.open(LOCAL_WORKSPACE, title="x" * (TITLE_CHARACTERS_MAX + 1)),
            "ERR_TITLE_INVALID",
        ),
        (
            lambda tx: tx.conversations.open(LOCAL_WORKSPACE, collections=("c",) * 101),
            "ERR_SCOPE_INVALID",
        ),
    ]
    for change, code in tries:
        with pytest.raises(Refused) as refused:
            await store.write(change)
        assert refused.value.code == code

    def fill(tx: Transaction) -> None:
        for _ in range(UNFINISHED_MAX):
            tx.conversations.post(LOCAL_WORKSPACE, talk.id, "How much?", owner=OWNER)

    await store.write(fill)
    with pytest.raises(Exhausted) as exhausted:
        await posted(store, talk)
    assert exhausted.value.code == "ERR_ANSWER_UNFINISHED"


async def test_answers_on_their_way_to_one_user_are_bounded(store: Store) -> None:
    """H10: over all conversations and workspaces; another user is not concerned, and an end makes room."""
    ann, bo = "00000000-0000-4000-8000-00000000000a", "00000000-0000-4000-8000-00000000000b"
    places = [(await store.write(partial(_made, owner=owner))).id for owner in (ann, ann, bo)]

    def ask(tx: Transaction, where: WorkspaceId) -> Posted:
        talk = tx.conversations.open(where)
        return tx.conversations.post(where, talk.id, "How much?", owner=OWNER)

    on_their_way = [
        await store.write(partial(ask, where=places[number % 2])) for number in range(UNFINISHED_OWNED_MAX)
    ]
    with pytest.raises(Exhausted) as exhausted:
        await store.write(partial(ask, where=places[0]))
    assert exhausted.value.code == "ERR_ANSWERS_WAITING"
    await store.write(partial(ask, where=places[2]))

    await store.write(lambda tx: tx.conversations.stop(places[0], on_their_way[0].answer.id))
    await store.write(partial(ask, where=places[1]))


def _made(tx: Transaction, owner: str) -> Workspace:
    tx.accounts.sign_in(owner)
    return tx.accounts.open(owner, "here")


async def test_a_conversation_has_an_end(store: Store) -> None:
    """H10: a full one takes no more questions, and says so."""
    talk = await opened(store)

    def fill(tx: Transaction) -> None:
        for _ in range(MESSAGES_MAX // 2):
            both = tx.conversations.post(LOCAL_WORKSPACE, talk.id, "How much?", owner=OWNER)
            tx.conversations.stop(LOCAL_WORKSPACE, both.answer.id)

    await store.write(fill, timeout=30)
    with pytest.raises(Fault) as full:
        await posted(store, talk)

    assert full.value.code == "ERR_CONVERSATION_FULL"
    page = await store.transcript.messages(LOCAL_WORKSPACE, talk.id, limit=10**9)
    assert [each.number for each in page] == list(range(MESSAGES_MAX - PAGE_MAX + 1, MESSAGES_MAX + 1))


async def test_messages_are_paged_both_ways(store: Store) -> None:
    """H2: the last page without a number, then backwards; forwards from any number."""
    talk = await opened(store)
    for _ in range(4):
        await posted(store, talk)

    async def page(**where: int) -> list[int]:
        return [
            each.number
            for each in await store.transcript.messages(LOCAL_WORKSPACE, talk.id, limit=3, **where)
        ]

    assert await page() == [6, 7, 8]
    assert await page(before=6) == [3, 4, 5]
    assert await page(before=3) == [1, 2]
    assert await page(after=0) == [1, 2, 3]
    assert await page(after=3) == [4, 5, 6]
    assert await page(after=8) == []


async def test_conversations_with_news_come_first(store: Store, clock: FakeClock) -> None:
    """H2: a new message puts its conversation on top; pages go on where the last one ended."""
    talks = []
    for _ in range(3):
        clock.advance(1)
        talks.append(await opened(store))
    clock.advance(1)
    await posted(store, talks[0])

    first = await store.transcript.conversations(LOCAL_WORKSPACE, limit=2)
    rest = await store.transcript.conversations(LOCAL_WORKSPACE, limit=2, before=first[-1].bookmark)

    assert [each.id for each in (*first, *rest)] == [talks[0].id, talks[2].id, talks[1].id]


async def test_a_conversation_is_called_by_its_first_question(store: Store) -> None:
    """H1: unless it has a title; a long question by its beginning, in one line."""
    plain, titled, long = await opened(store), await opened(store, title="Keys"), await opened(store)
    for talk, text in ((plain, "How\nmuch?"), (plain, "And why?"), (titled, "How much?"), (long, "x" * 999)):
        await posted(store, talk, text)

    listed = {each.id: each.title for each in await store.transcript.conversations(LOCAL_WORKSPACE)}
    assert listed == {plain.id: "How much?", titled.id: "Keys", long.id: "x" * 79 + "\u2026"}


async def test_a_renamed_conversation(store: Store) -> None:
    """H10: the title is one line, and stays over a restart."""
    talk = await opened(store)

    renamed = await store.write(
        lambda tx: tx.conversations.rename(LOCAL_WORKSPACE, talk.id, " Keys\n and locks ")
    )

    assert renamed.title == "Keys and locks"
    assert await store.transcript.conversation(LOCAL_WORKSPACE, talk.id) == renamed


async def test_a_conversation_looks_at_something_else(store: Store) -> None:
    """H9, H10: from the next question on; another workspace cannot change it."""
    talk = await opened(store, collections=("rules",))

    changed = await store.write(
        lambda tx: tx.conversations.rescope(LOCAL_WORKSPACE, talk.id, documents=(DocumentId("d"),))
    )

    assert (changed.collections, changed.documents) == ((), ("d",))
    with pytest.raises(Refused):
        await store.write(lambda tx: tx.conversations.rescope(ELSEWHERE, talk.id))
    assert await store.transcript.conversation(LOCAL_WORKSPACE, talk.id) == changed


async def test_a_removed_conversation_is_gone_with_its_messages(store: Store) -> None:
    """H11: nothing of it is found, and whoever writes an answer in it has lost it.

    Its events keep their numbers and lose their words: they would be told again for days.
    """
    talk = await opened(store)
    both = await posted(store, talk)
    await taken(store, both.answer)
    told = await store.events_after(LOCAL_USER, 0)
    assert any(both.question.content in event.payload_json for event in told)

    assert await store.write(lambda tx: tx.conversations.remove(LOCAL_WORKSPACE, talk.id))

    assert await store.transcript.conversations(LOCAL_WORKSPACE) == []
    assert await store.transcript.message(LOCAL_WORKSPACE, both.question.id) is None
    assert await store.transcript.renew(OWNER, {both.answer.id: ""}) == {both.answer.id: Standing.LOST}
    assert not await finished(store, both.answer)
    assert not await store.write(lambda tx: tx.conversations.remove(LOCAL_WORKSPACE, ConversationId("never")))
    *left, last = await store.events_after(LOCAL_USER, 0)
    assert last.type == "conversation.removed"
    assert [event.seq for event in left] == [event.seq for event in told]
    assert not any(both.question.content in event.payload_json for event in left)


async def test_an_answer_ends_with_its_workspace(store: Store) -> None:
    """H11: whoever writes one hears at the next renewal that it is lost; none is begun or finished there."""
    await store.write(lambda tx: tx.accounts.sign_in(ANNA))
    cellar = await store.write(lambda tx: tx.accounts.open(ANNA, "Cellar"))

    def ask(tx: Transaction) -> Posted:
        talk = tx.conversations.open(cellar.id)
        return tx.conversations.post(cellar.id, talk.id, "How much?", owner=OWNER)

    running, waiting = [(await store.write(ask)).answer for _ in range(2)]
    assert await taken(store, running)
    held = {running.id: "Forty", waiting.id: ""}
    assert set((await store.transcript.renew(OWNER, held)).values()) == {Standing.HELD}

    assert await store.write(lambda tx: tx.accounts.remove(ANNA, cellar.id))

    assert set((await store.transcript.renew(OWNER, held)).values()) == {Standing.LOST}
    assert not await taken(store, waiting)
    assert not await finished(store, running)
    (page,) = await store.feed.pages({ANNA: 0})
    assert "Forty" not in str(page.events)


async def test_what_was_undone_is_not_told(store: Store) -> None:
    """H3: a transaction that fails leaves no message and no event."""
    talk = await opened(store)
    before = await events(store)

    def half(tx: Transaction) -> None:
        tx.conversations.post(LOCAL_WORKSPACE, talk.id, "How much?", owner=OWNER)
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        await store.write(half)

    assert await events(store) == before
    assert await store.transcript.messages(LOCAL_WORKSPACE, talk.id) == []


async def test_all_conversations_of_a_workspace_go_a_few_at_a_time(store: Store) -> None:
    """H9, H11: with their messages, and none of another workspace."""
    for title in ("one", "two", "three"):
        conversation = await opened(store, title=title)
        await posted(store, conversation)

    removed = [
        await store.write(partial(_removed, where))
        for where in (ELSEWHERE, LOCAL_WORKSPACE, LOCAL_WORKSPACE, LOCAL_WORKSPACE)
    ]

    assert removed == [0, 2, 1, 0]
    assert await store.transcript.conversations(LOCAL_WORKSPACE) == []


def _removed(where: WorkspaceId, tx: Transaction) -> int:
    return tx.conversations.remove_some(where, limit=2)


async def test_a_key_belongs_to_one_question(store: Store) -> None:
    """H1: another question under it is refused, and nothing is stored."""
    talk = await opened(store)

    def ask(tx: Transaction, text: str) -> Posted:
        return tx.conversations.post(LOCAL_WORKSPACE, talk.id, text, owner=OWNER, key="k")

    await store.write(lambda tx: ask(tx, "How much?"))
    with pytest.raises(Refused) as caught:
        await store.write(lambda tx: ask(tx, "Something else?"))

    assert caught.value.code == "ERR_IDEMPOTENCY_MISMATCH"
    found = await store.write(lambda tx: tx.conversations.find(LOCAL_WORKSPACE, talk.id))
    assert found is not None
    assert found.messages == 2
    assert await store.write(lambda tx: tx.conversations.find(ELSEWHERE, talk.id)) is None
