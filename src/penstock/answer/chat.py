"""Conversations as a process serves them: it stores questions, writes their answers and keeps them its own.

An answer belongs to the process that accepted its question. The process says every half second that it is
still at it, with what is written so far; in the same breath it learns what should stop and what it has lost.
If it dies, a healer anywhere ends its answers. If it is told to end, it ends them itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.answer.dialogue import uncited
from penstock.answer.opening import opened
from penstock.answer.questions import checked
from penstock.answer.replying import Replier
from penstock.answer.showing import Show, Showing, nobody
from penstock.answer.turns import Place, Turns
from penstock.model.catalogue import DocumentId, WorkspaceId
from penstock.model.codes import CODES
from penstock.model.conversations import (
    UNFINISHED_OWNED_MAX,
    Assignment,
    Conversation,
    ConversationId,
    Message,
    MessageId,
    Posted,
    Standing,
    Written,
)
from penstock.model.errors import ErrorReport, Exhausted, Fault, Unavailable, report_of
from penstock.ports.conversations import Transcript
from penstock.ports.database import Database, Transaction

log = logging.getLogger("penstock.chat")
RENEW_SECONDS = 0.5
ANSWER_SECONDS_MAX = 600.0
"""A net below the bounds of search and endpoint."""
LAST_WORDS_SECONDS = 1.0
"""How long the end of an answer waits for a slow viewer."""
AT_ONCE = 8
"""Answers written side by side; further ones wait as pending."""


class _Live:
    """An answer of ours that has not ended."""

    def __init__(self, message: MessageId, show: Show, whose: str) -> None:
        self.message = message
        self.whose = whose
        self.showing = Showing(show)
        self.standing = Standing.HELD
        self.task: asyncio.Task[None] | None = None
        self.place: Place | None = None
        self.writing: asyncio.Task[Written] | None = None

    def learn(self, standing: Standing) -> None:
        """What the store says about it; an answer that should stop, or is lost, is written no further."""
        if self.standing is Standing.HELD:  # what was told first counts: a slow reply may be older
            self.standing = standing
        if standing is not Standing.HELD:
            for each in (self.place, self.writing):
                if each is not None:
                    each.cancel()


class Chat:
    """Questions in, answers out; one for a process, with `run` going beside it."""

    def __init__(
        self,
        database: Database,
        transcript: Transcript,
        replier: Replier,
        *,
        owner: str,
        at_once: int = AT_ONCE,
    ) -> None:
        """`owner` is new at every start."""
        self._database = database
        self._transcript = transcript
        self._replier = replier
        self._owner = owner
        self._turns = Turns(at_once)
        self._live: dict[MessageId, _Live] = {}
        self._closing = False

    async def open(
        self,
        workspace: WorkspaceId,
        *,
        title: str = "",
        collections: tuple[str, ...] = (),
        documents: tuple[DocumentId, ...] = (),
    ) -> Conversation:
        """A new conversation; Refused where the workspace has not what it should look at."""
        return await self._database.write(
            lambda tx: opened(tx, workspace, title=title, collections=collections, documents=documents)
        )

    async def post(
        self,
        workspace: WorkspaceId,
        conversation: ConversationId,
        text: str,
        *,
        key: str | None = None,
    ) -> Posted:
        """Store a question and its answer to come, which `start` then writes."""
        checked(text)
        self._refuse_near_the_end()
        return await self._database.write(
            lambda tx: tx.conversations.post(workspace, conversation, text, owner=self._owner, key=key)
        )

    async def regenerate(self, workspace: WorkspaceId, answer: MessageId) -> Message:
        """Another answer to come to the same question, which `start` then writes."""
        return await self._database.write(lambda tx: self.regenerate_in(tx, workspace, answer))

    def regenerate_in(self, tx: Transaction, workspace: WorkspaceId, answer: MessageId) -> Message:
        """The same together with the caller's own changes."""
        self._refuse_near_the_end()
        return tx.conversations.regenerate(workspace, answer, owner=self._owner)

    async def stop(self, workspace: WorkspaceId, answer: MessageId) -> bool:
        """Let an answer end now, whichever process writes it; False if it has ended."""
        stopped = await self._database.write(lambda tx: tx.conversations.stop(workspace, answer))
        if stopped and (live := self._live.get(answer)) is not None:
            live.learn(Standing.STOPPING)
        return stopped

    @asynccontextmanager
    async def turn(self, whose: str) -> AsyncIterator[None]:
        """A turn at writing an answer that is not kept, in fair line with those that are.

        Exhausted where as many are on their way to this person here as may be.
        """
        self._refuse_near_the_end()
        waiting = self._turns.count(whose)
        if waiting >= UNFINISHED_OWNED_MAX:
            raise Exhausted(f"{waiting} answers to you are still to come", code="ERR_ANSWERS_WAITING")
        place = self._turns.ask(whose)
        try:
            await place
            yield
        finally:
            self._turns.leave(whose, place)

    def start(self, answer: MessageId, show: Show = nobody, *, whose: str = "") -> asyncio.Task[None]:
        """Write an answer of ours, in its person's turn; the task ends when the answer has, however it did.

        It goes on without whoever waits for it: nobody may be cancelled into it. Started
        again, an answer is written once and shown where it was shown first; one that is not ours is left.
        """
        known = self._live.get(answer)
        if known is not None and known.task is not None:
            return known.task
        live = self._live[answer] = _Live(answer, show, whose)
        live.task = asyncio.create_task(self._answer(live))
        return live.task

    async def run(self) -> None:
        """Keep the answers ours."""
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            await self.look()

    async def look(self) -> None:
        """One round: say what is still being written, and hear what should not be."""
        if not self._live:
            return
        said = {message: live.showing.text for message, live in self._live.items()}
        try:
            standings = await self._transcript.renew(self._owner, said)
        except Fault as fault:
            log.warning("cannot say that answers are being written: %s", fault.message)
            return
        for message, standing in standings.items():
            if (live := self._live.get(message)) is not None:
                live.learn(standing)

    async def close(self) -> None:
        """End every answer at once, as interrupted; no question is taken any more."""
        self._closing = True
        tasks = [live.task for live in self._live.values() if live.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for live in tuple(self._live.values()):  # cancelled before their first step
            await self._fail(live, _report("ERR_INTERRUPTED"))
            self._live.pop(live.message, None)

    def _refuse_near_the_end(self) -> None:
        if self._closing:
            raise Unavailable("the server is about to restart", code="ERR_RESTARTING")

    async def _answer(self, live: _Live) -> None:
        live.place = self._turns.ask(live.whose)
        live.learn(live.standing)  # it may be stopped by now
        try:
            if self._closing:  # the question was stored meanwhile
                return await self._fail(live, _report("ERR_INTERRUPTED"))
            await asyncio.wait({live.place})
            if live.place.cancelled():
                return  # it was stopped, or ended by others, before its turn came
            task = await self._database.write(lambda tx: tx.conversations.take(live.message, self._owner))
            if task is not None:
                await self._write(live, task)
        except asyncio.CancelledError:
            await self._fail(live, _report("ERR_INTERRUPTED"))
            raise
        except Fault as fault:  # the store is away: a healer will end it
            log.warning("an answer cannot be stored: %s", fault.message)
        finally:
            self._turns.leave(live.whose, live.place)
            self._live.pop(live.message, None)

    async def _write(self, live: _Live, task: Assignment) -> None:
        """Take what the replier makes of it to the store."""
        live.writing = asyncio.create_task(self._replier.reply(task, live.showing.say))
        showing = asyncio.create_task(live.showing.run(task))
        try:
            if live.standing is not Standing.HELD:
                live.writing.cancel()
            await asyncio.wait({live.writing}, timeout=ANSWER_SECONDS_MAX)
            late = not live.writing.done()
            live.writing.cancel()
            (ended,) = await asyncio.gather(live.writing, return_exceptions=True)
            live.showing.end()
            await asyncio.wait({showing}, timeout=LAST_WORDS_SECONDS)
        finally:
            live.writing.cancel()
            showing.cancel()
            await asyncio.gather(live.writing, showing, return_exceptions=True)
        match ended:
            case Written():
                await self._database.write(
                    lambda tx: tx.conversations.finish(live.message, self._owner, ended)
                )
            case asyncio.CancelledError() if live.standing is Standing.LOST:
                log.info("an answer was ended by others")
            case asyncio.CancelledError() if live.standing is Standing.STOPPING:
                await self._fail(live, _report("ERR_STOPPED"))
            case _ if late:
                await self._fail(
                    live, _too_long(f"the answer took longer than {ANSWER_SECONDS_MAX:g} seconds")
                )
            case TimeoutError():
                await self._fail(live, _too_long(str(ended)))
            case BaseException():
                await self._fail(live, report_of(ended))

    async def _fail(self, live: _Live, error: ErrorReport) -> None:
        """End it with what was written so far, without numbers whose sources nobody kept."""
        if error.trace:
            log.error("an answer failed: %s", error.trace)
        partial = Written(content=uncited(live.showing.text))
        await self._database.write(
            lambda tx: tx.conversations.fail(live.message, self._owner, error, partial)
        )


def _too_long(message: str) -> ErrorReport:
    return ErrorReport(code="ERR_TIMEOUT", message=message)


def _report(code: str) -> ErrorReport:
    return ErrorReport(code=code, message=CODES[code])
