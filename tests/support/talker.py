"""Answers in a conversation as the API will: `python -m tests.support.talker CONVERSATION [ANSWER]`.

It asks for the lost key, or has the named answer written anew, and ends when the answer has.
"""

import asyncio
import os
import sys

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.conversations import ConversationId, MessageId
from penstock.settings import load
from penstock.wiring.answers import open_chat
from penstock.wiring.store import open_store

QUESTION = "lost key"


async def talk(conversation: ConversationId, answer: MessageId | None) -> None:
    settings = load(None, dict(os.environ), {})
    async with open_store(settings) as store, open_chat(settings, store) as chat:
        if answer is None:
            new = (await chat.post(LOCAL_WORKSPACE, conversation, QUESTION)).answer
        else:
            new = await chat.regenerate(LOCAL_WORKSPACE, answer)
        await chat.start(new.id)


if __name__ == "__main__":
    words = sys.argv[1:]
    asyncio.run(talk(ConversationId(words[0]), MessageId(words[1]) if words[1:] else None))
