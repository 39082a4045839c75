"""Messages of programs we did not write: each becomes a job, or goes to the dead letter with the reason."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence

import msgspec

from penstock.engines.redis.access import Access
from penstock.engines.redis.names import Inbox, packed
from penstock.engines.redis.submitting import entry_of
from penstock.model.errors import Refused
from penstock.model.jobs import PRIORITY_NAMES, JobId, NewJob
from penstock.model.messages import Refusal, refusal_of, words_of
from penstock.model.provenance import provenance_of
from penstock.model.records import error_type, stamp

ADOPTED, NOT_OURS = b"", b"-"
"""What the script answers for a message beside the code it was refused with."""

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
    inboxes = [_inbox_of(access, origin) for _, origin, _ in strangers]
    packets = [
        _packet(access, element, inbox, translate, now)
        for (element, _, _), inbox in zip(strangers, inboxes, strict=True)
    ]
    # The bytes go beside the packets: what is no text cannot be packed as one.
    elements = [element for element, _, _ in strangers]
    names = access.names
    keys = [names.form, names.processing_of(worker), names.strangers_of(worker)]
    answers = await access.run("adopt", packed(packets), *elements, keys=keys, now=now)
    for inbox, (code, job_id) in zip(inboxes, answers, strict=True):
        if code not in (ADOPTED, NOT_OURS):
            _tell_refused(access, inbox.name, code.decode(), job_id.decode())
    return sum(code != NOT_OURS for code, _ in answers)


def tell_put_away(access: Access, origins: Sequence[bytes]) -> None:
    """Tell of messages a claim put away because they are too large, by the lists they came from."""
    for origin in origins:
        _tell_refused(access, _inbox_of(access, origin).name, "ERR_PAYLOAD_TOO_LARGE", "")


def _tell_refused(access: Access, list_name: str, code: str, job_id: str) -> None:
    refusal, known = Refusal(code=code, message=""), _known(access, list_name)
    rank = None if known is None else known.rank
    access.telemetry.refused(rank, refusal.report(), JobId(job_id) if job_id else None)


def _inbox_of(access: Access, origin: bytes) -> Inbox:
    """A list of ours, or one another process watches, for a collection we have not heard of yet."""
    name = origin.decode(errors="surrogateescape")
    return _known(access, name) or Inbox(name=name, rank=PRIORITY_NAMES["normal"], tenant=access.names.home)


def _known(access: Access, name: str) -> Inbox | None:
    return next((inbox for inbox in access.names.inboxes if inbox.name == name), None)


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
    told = (letter.decode(), refusal.job_id or "", error_type(report), report.message, (), "0", report.code)
    collection, filename, submitted_at = words_of(element)
    return (*told, (collection, filename, submitted_at or ""))


def letter_of(element: bytes, *, code: str, reason: str, now: float, origin: str) -> bytes:
    """A dead letter: the exact bytes as text, or in base64 where they are none, why it is here, whence."""
    try:
        told = {"message": element.decode()}
    except UnicodeDecodeError:
        told = {"message_base64": base64.b64encode(element).decode()}
    why = {"reason": reason, "code": code, "failed_at": stamp(now), "origin_queue": origin}
    return msgspec.json.encode({**told, **why})
