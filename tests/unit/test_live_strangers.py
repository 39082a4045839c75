"""Who has not said who he is: waited for in few places, and not for long."""

import asyncio

import pytest

from penstock.doors.live import strangers as bounds
from penstock.doors.live.strangers import Strangers
from penstock.model.errors import Exhausted


class Quiet:
    """Somebody who says something when he is told to."""

    def __init__(self, strangers: Strangers) -> None:
        self._said: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.waiting = asyncio.create_task(strangers.first_words(self._hear))

    async def _hear(self) -> str:
        return await self._said

    async def speak(self) -> str:
        self._said.set_result("me")
        return await self.waiting


async def arriving(strangers: Strangers) -> Quiet:
    quiet = Quiet(strangers)
    await asyncio.sleep(0)
    return quiet


async def test_who_waits_longest_makes_room_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """He is told that there were too many; the others are heard, and their places are free again."""
    monkeypatch.setattr(bounds, "STRANGERS_MAX", 2)
    strangers = Strangers()
    first, second, third = [await arriving(strangers) for _ in range(3)]

    with pytest.raises(Exhausted) as caught:
        await first.waiting
    assert caught.value.code == "ERR_CONNECTIONS"
    assert await second.speak() == "me"
    fourth = await arriving(strangers)
    assert [await third.speak(), await fourth.speak()] == ["me", "me"]


async def test_who_says_nothing_is_not_waited_for_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time that is over is told as that, not as a lack of places."""
    monkeypatch.setattr(bounds, "FIRST_MESSAGE_SECONDS", 0.01)

    with pytest.raises(TimeoutError):
        await (await arriving(Strangers())).waiting
