"""What messages of other programs have become is kept until the book asks for it, each message once."""

import json
from pathlib import Path

from penstock.engines.redis.names import Inbox
from penstock.model.jobs import NewJob
from penstock.settings import RedisServer
from penstock.wiring.booked import BookedStore
from penstock.wiring.store import Store
from tests.support.redis_program import QUEUE, RedisProgram


def test_a_message_read_again_and_again_is_kept_once(tmp_path: Path, redis: RedisServer) -> None:
    """A server too full to adopt it has every claim read it anew: memory does not grow with the tries."""
    yard = RedisProgram(tmp_path, redis)
    (yard.papers / "policy-1.txt").write_text("x")
    inbox = Inbox(name=QUEUE, rank=5, tenant="local")

    async def work(store: Store) -> tuple[int, int]:
        assert isinstance(store, BookedStore)
        for _ in range(5):
            found = store.reading.translate(json.dumps(yard.message(1)).encode(), inbox)
            assert isinstance(found, NewJob)
        return len(store.reading.strangers()), len(store.reading.strangers())

    assert yard.in_store(work) == (1, 0)
    yard.bare.close()
