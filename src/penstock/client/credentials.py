"""Who we are to the server: a token, and where to get a newer one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Refresh = Callable[[], Awaitable[str]]
"""Gives a token that is good from now on."""


class Credentials:
    """The token all requests and connections of one client show."""

    def __init__(self, token: str | None, refresh: Refresh | None) -> None:
        self.token = token
        self._refresh = refresh
        self._turn = asyncio.Lock()

    def headers(self) -> dict[str, str]:
        """What shows it; nothing where there is none."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    async def renew(self, refused: str | None) -> bool:
        """Have another token than the refused one; False where there is no way to get one."""
        if self._refresh is None:
            return False
        async with self._turn:  # many may be refused at once, one of them asks
            if self.token == refused:
                self.token = await self._refresh()
        return True
