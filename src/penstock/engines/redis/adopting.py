"""Messages of programs we did not write: each becomes a job, or goes to the dead letter with the reason."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import msgspec

from penstock.engines.redis.access import Access
from penstock.engines.redis.names import Inbox, packed
from penstock.engines.redis.submitting import entry_of
from penstock.model.errors import Refused
from penstock.model.jobs import PRIORITY_NAMES, NewJob
from penstock.model.messages import Refusal, refusal_of
from penstock.model.provenance import provenance_of
from penstock.model.records import error_type, stamp

Translate = Callable[[bytes, Inbox], NewJob | Refusal]
"""A message and the list it came by become a job, or a reason why not."""


def refuse_all(message: bytes, inbox: Inbox) -> Refusal:
    """What an engine without a translator says."""
    return Refusal(code="ERR_MESSAGE_INVALID", message=f"nothing here reads messages of {inbox.name}")


async def adopt(
    access: Access, worker: str, strangers: Sequence[Sequence[bytes]], translate: Translate
) -> int:
    """Adopt what a claim moved to the worker's processing list; how many were still there."""
    now = access.clock.now()
    inboxes = {inbox.name.encode(): inbox for inbox in access.names.inboxes}
    packets = [
        _packet(access, element, inboxes.get(origin) or _unknown(access, origin), translate, now)
        for element, origin, _ in strangers
    ]
    # The bytes go beside the packets: what is no text cannot be packed as one.
    elements = [element for element, _, _ in strangers]
    return int(await access.run("adopt", worker, packed(packets), *elements, now=now))


def _unknown(access: Access, origin: bytes) -> Inbox:
    """A list another process watches, for a collection we have not heard of yet."""
    name = origin.decode(errors="surrogateescape")
    return Inbox(name=name, rank=PRIORITY_NAMES["normal"], tenant=access.names.home)


def _packet(
    access: Access, element: bytes, inbox: Inbox, translate: Translate, now: float
) -> tuple[object, ...]:
    found = translate(element, inbox)
    if isinstance(found, NewJob):
        try:
            spent = str(provenance_of(found.metadata).retry_count)
            return ("", "", "", "", entry_of(found, access.rules, now), spent)
        except Refused as refused:
            return _refused(element, inbox, refusal_of(refused, found.id), now)
    return _refused(element, inbox, found, now)


def _refused(element: bytes, inbox: Inbox, refusal: Refusal, now: float) -> tuple[object, ...]:
    report = refusal.report()
    letter = letter_of(element, code=report.code, reason=report.message, now=now, origin=inbox.name)
    return (letter.decode(), refusal.job_id or "", error_type(report), report.message, ())


def letter_of(element: bytes, *, code: str, reason: str, now: float, origin: str) -> bytes:
    """A dead letter: the exact bytes as text, or in base64 where they are none, why it is here, whence."""
    try:
        told = {"message": element.decode()}
    except UnicodeDecodeError:
        told = {"message_base64": base64.b64encode(element).decode()}
    why = {"reason": reason, "code": code, "failed_at": stamp(now), "origin_queue": origin}
    return msgspec.json.encode({**told, **why})
