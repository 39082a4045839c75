"""Who asks, and tickets for places where a token could be written down."""

from __future__ import annotations

from fastapi import APIRouter, status

from penstock.doors.http.house import Admitting, Asker, In
from penstock.doors.http.shapes import Me, TicketSaid
from penstock.model.instants import instant

router = APIRouter(route_class=Admitting, tags=["me"])


@router.get("/me")
async def me(asker: Asker) -> Me:
    """Who the server takes you for."""
    return Me(
        user_id=asker.user,
        role=asker.role,
        proof=asker.proof.value,
        expires_at=None if asker.expires_at is None else instant(asker.expires_at),
    )


@router.post("/tickets", status_code=status.HTTP_201_CREATED)
async def ticket(asker: Asker, house: In) -> TicketSaid:
    """A ticket that opens a WebSocket or a stream of events in place of a token, once and soon.

    Whoever comes again to `/ws` asks for another, and goes on with `since`. A stream tells in each `id` what
    it is opened again with, so that an `EventSource` needs no more than its first ticket.
    """
    issued = await house.entry.issue(asker)
    return TicketSaid(ticket=issued, expires_in=house.settings.auth.ticket_ttl)
