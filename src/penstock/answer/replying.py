"""Writing one answer of a conversation: what was said before, a search, words as they come, citations."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace

from penstock.answer.answers import Answers
from penstock.answer.condensing import Condensed, condensed
from penstock.answer.dialogue import Said, turns_of
from penstock.answer.facts import citations_json, metadata_json, usage_json
from penstock.answer.markdown import MarkdownSieve, safe_markdown
from penstock.answer.scoping import Filters
from penstock.model.answers import Answer, Confidence, Delta, Finished
from penstock.model.catalogue import WorkspaceId
from penstock.model.conversations import Assignment, Written
from penstock.model.errors import Broken
from penstock.ports.answerer import Answerer
from penstock.ports.conversations import Transcript

HISTORY_MESSAGES = 20


class Replier:
    """Writes answers; one for a process."""

    def __init__(
        self,
        answers: Callable[[WorkspaceId], Answers],
        transcript: Transcript,
        answerer: Answerer | None = None,
    ) -> None:
        """`answerer` says questions in full; whether it writes the answers too is for `answers` to know."""
        self._answers = answers
        self._transcript = transcript
        self._answerer = answerer

    async def reply(self, task: Assignment, say: Callable[[str], None]) -> Written:
        """The whole answer; `say` hears its words as they come, safe to show."""
        talk, asked = task.conversation, task.question
        before = await self._transcript.messages(
            talk.workspace, talk.id, before=asked.number, limit=HISTORY_MESSAGES
        )
        turns = turns_of(before)
        alone = await condensed(asked.content, turns, self._answerer)
        filters = Filters(collections=talk.collections, documents=talk.documents)
        answers = self._answers(talk.workspace)
        question = await _standing(answers, filters, alone)
        tellings = answers.ask(filters, question, said=Said(question=asked.content, turns=turns))
        sieve, content = MarkdownSieve(), ""
        async with aclosing(tellings):
            async for telling in tellings:
                match telling:
                    case Delta(text=text):
                        safe = sieve.feed(text)
                        content += safe
                        say(safe)
                    case Finished(answer=answer):
                        return Written(
                            content=content,
                            citations_json=citations_json(answer),
                            usage_json=usage_json(alone.usage, answer.usage),
                            metadata_json=metadata_json(_shown(answer, asked.content)),
                        )
                    case _:
                        pass
        raise Broken("the answer has no end")


def _shown(answer: Answer, asked: str) -> Answer:
    """What a person typed is shown as it was typed; the question a model made of it is made safe."""
    return answer if answer.question == asked else replace(answer, question=safe_markdown(answer.question))


async def _standing(answers: Answers, filters: Filters, alone: Condensed) -> str:
    """What is searched for: as it was asked where that finds something for certain."""
    if alone.as_asked is None or alone.as_asked == alone.question:
        return alone.question
    found = await answers.search(filters, alone.as_asked)
    return alone.as_asked if found.confidence is Confidence.STRONG else alone.question
