"""What the routes work with, and for whom: every look and change goes through a workspace found here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Annotated, Any, cast

from fastapi import Depends, Path, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from penstock.answer.answers import Answers
from penstock.answer.chat import Chat
from penstock.answer.showing import Show
from penstock.answer.texts import Texts
from penstock.doors.entry import Entry, bearer_of
from penstock.doors.http.rates import Rates
from penstock.doors.http.visits import visit_of
from penstock.intake.arrivals import Counting
from penstock.model.accounts import Workspace
from penstock.model.catalogue import WorkspaceId
from penstock.model.errors import Refused
from penstock.model.principals import Principal
from penstock.ports.blobs import Blobs
from penstock.settings import Settings
from penstock.wiring.store import Store
from penstock.work.tenant_desk import TenantDesk

ID_LENGTH_MAX = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """All a serving process has open."""

    settings: Settings
    store: Store
    entry: Entry
    blobs: Blobs
    chat: Chat
    answers: Callable[[WorkspaceId], Answers]
    texts: Texts
    desk_of: Callable[[WorkspaceId], Awaitable[TenantDesk]]
    rates: Rates
    counting: Counting
    show: Callable[[Workspace], Show]
    """Where the words of an answer go while it is written."""


def house_of(request: Request) -> House:
    """The house of the process that answers."""
    return cast(House, request.app.state.house)


async def caller(request: Request) -> Principal:
    """Who asks, as the route has found out before."""
    return cast(Principal, request.state.principal)


async def _admit(request: Request) -> Principal:
    """Who asks, within what one user may ask in a minute."""
    house = house_of(request)
    headers = request.headers.getlist("authorization")
    token = bearer_of(headers[0]) if len(headers) == 1 else None
    principal = await house.entry.admit(visit_of(request), token=token)
    house.rates.spend(principal.user)
    return principal


Asker = Annotated[Principal, Depends(caller)]
WorkspaceName = Annotated[
    str, Path(min_length=1, max_length=ID_LENGTH_MAX, description="The workspace's id.")
]


async def workspace(request: Request, asker: Asker, workspace_id: WorkspaceName) -> Workspace:
    """The asker's workspace of this id; another's is not there."""
    found = await house_of(request).store.register.workspace(asker.user, WorkspaceId(workspace_id))
    if found is None:
        raise Refused("there is no such workspace", code="ERR_WORKSPACE_UNKNOWN")
    return found


async def chosen(house: House, asker: Principal, workspace_id: str | None) -> Workspace:
    """The asker's workspace of this id, or the only one there is where none is named."""
    there = await house.store.register.workspaces(asker.user)
    if workspace_id is not None:
        there = [each for each in there if each.id == workspace_id]
    if not there:
        raise Refused("there is no such workspace", code="ERR_WORKSPACE_UNKNOWN")
    if len(there) > 1:
        raise Refused("there are several workspaces; name one as workspace_id", code="ERR_WORKSPACE_UNNAMED")
    return there[0]


class Admitting(APIRoute):
    """A route that knows who asks before it reads a word of the body: the framework would read it first."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """What answers a request."""
        answer = super().get_route_handler()
        if not _asks_who(self.dependant):
            return answer

        async def admitted(request: Request) -> Response:
            request.state.principal = await _admit(request)
            return await answer(request)

        return admitted


def _asks_who(dependant: Dependant) -> bool:
    return dependant.call is caller or any(_asks_who(each) for each in dependant.dependencies)


In = Annotated[House, Depends(house_of)]
Here = Annotated[Workspace, Depends(workspace)]
