"""What goes wrong with a Qdrant server: whose move it is, and in which words people are told."""

from __future__ import annotations

import re

import msgspec

from penstock.model.errors import Broken, Fault, Refused, Unavailable

WORDS_MAX = 300
DOWN = "ERR_VECTORS_DOWN"
MISSING = "ERR_VECTORS_MISSING"
_BUSY = frozenset({408, 425, 429, 500, 502, 503, 504})
_SHAPE = re.compile(r"dimension|not existing vector name|wrong input: .*vector", re.IGNORECASE)


class _Told(msgspec.Struct):
    error: str = ""


class _Body(msgspec.Struct):
    status: _Told | str = ""


def down(why: str) -> Unavailable:
    """It cannot be reached."""
    return Unavailable(f"the Qdrant server cannot be reached ({why})", code=DOWN)


def nonsense(what: str) -> Broken:
    """It answers what is no answer."""
    return Broken(f"the Qdrant server answers nonsense: {what}", code="ERR_VECTORS_ANSWER")


def missing(name: str) -> Broken:
    """A collection that should be there is not."""
    return Broken(
        f"the Qdrant server has no collection {name}; `penstock fsck --repair` makes it anew",
        code=MISSING,
    )


def elsewhere() -> Unavailable:
    """Something answers that there is no such path, in words that are not Qdrant's."""
    return Unavailable(
        "what answers at the address of the Qdrant server is no Qdrant; check vectors",
        code="ERR_VECTORS_ANSWER",
    )


def misshapen(what: str) -> Unavailable:
    """A collection holds something else: a person must mend that, and the document waits for it."""
    return Unavailable(what, code="ERR_VECTORS_SHAPE")


def knows_not(body: bytes) -> bool:
    """Whether it is Qdrant that says that there is no such thing."""
    return bool(_words(body))


def fault_of_status(status: int, body: bytes, retry_after: str | None) -> Fault:
    """The fault a status stands for."""
    words = _words(body)
    said = f": {words}" if words else ""
    if status in _BUSY or status >= 500:
        wait = float(retry_after) if retry_after and re.fullmatch(r"[0-9]{1,6}", retry_after) else None
        told = f"the Qdrant server fails (status {status}){said}"
        return Unavailable(told, code=DOWN, retry_after=wait)
    # A person must mend these, and it is not the document's fault: it waits for that.
    if status in (401, 403):
        told = f"the Qdrant server refuses our key (status {status}); check qdrant.api_key"
        return Unavailable(told, code="ERR_VECTORS_KEY")
    if status < 400:
        told = f"the Qdrant server sends us elsewhere (status {status}); configure its final URL"
        return Unavailable(told, code="ERR_VECTORS_ANSWER")
    if _SHAPE.search(words):
        return misshapen(f"the Qdrant collection holds other vectors{said}")
    return Refused(
        f"the Qdrant server refuses the request (status {status}){said}", code="ERR_VECTORS_REFUSED"
    )


def _words(body: bytes) -> str:
    try:
        told = msgspec.json.decode(body, type=_Body).status
    except msgspec.MsgspecError:
        return ""
    return " ".join((told if isinstance(told, str) else told.error).split())[:WORDS_MAX]
