"""The end of our messages as entries keep it: what nearly all of them say alike is one character each.

A message lies in a list while it waits, and its entry beside it until the job is pruned: said in full, the
same three hundred bytes were stored, logged and sent twice. The pieces stand a second time in
`parts/tails.lua`, which makes the whole of it again where a message is written anew.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import msgspec

from penstock.model.jobs import NewJob
from penstock.model.payloads import File
from penstock.model.statuses import is_plain_file, message_of, source_type_of

_ENCODER = msgspec.json.Encoder()
PIECES = {
    "\1": ',"rag_id":"',
    "\2": '","source_path":"',
    "\3": '","source_type":"',
    "\4": '","filename":"',
    "\5": '","submitted_at":"',
    "\6": (
        '","submitted_by":"cli","options":{"reindex":false,"skip_validation":false,"preserve_metadata":true},'
        '"retry_count":0,"max_retries":'
    ),
    "\7": ',"version":1,"priority":',
    "\b": ',"tenant_id":"',
    "\v": '","item_type":"file","op":"ingest","branch":"main"}',
    "\x0e": '"}',
}
"""No JSON text has one of these characters inside. What is stored is read by them: none is ever changed."""
_SHORTER = sorted(((piece, sign) for sign, piece in PIECES.items()), key=lambda pair: -len(pair[0]))
"""The longest first: the others are then looked for in less."""


class Tail(NamedTuple):
    """What follows its number and its time in a job's message, which only the script knows."""

    whole: str
    kept: str
    """As entries keep it."""
    filename: str
    submitted_at: str


def tail_of(job: NewJob, *, now: float, stamp: str) -> Tail:
    """The end of the message of a job that is submitted now; `stamp` is that as the contract writes it."""
    payload = job.payload
    if isinstance(payload, File) and not job.metadata and is_plain_file(job):
        return _usual(job, payload.file_path, source_type_of(payload, payload.file_path), stamp)
    message = message_of(job, submitted_at=now)
    del message["job_id"]
    whole = "," + _ENCODER.encode(message)[1:].decode()
    return Tail(whole, kept_tail(whole), str(message["filename"]), str(message["submitted_at"]))


def _usual(job: NewJob, path: str, source_type: str, stamp: str) -> Tail:
    """The same as the other way makes it of a file nothing more is told of: most jobs are such."""
    filename = path.rpartition("/")[2]
    name, collection, tenant = filename, _inside(job.collection), _inside(job.tenant)
    if not (path.isascii() and path.isprintable() and '"' not in path and "\\" not in path):
        path, source_type, name = (_inside(word) for word in (path, source_type, name))
    one, two, three, four, five, six, seven, eight, _, nine = PIECES.values()
    retries, rank = job.max_retries, job.priority
    return Tail(
        f"{one}{collection}{two}{path}{three}{source_type}{four}{name}{five}{stamp}{six}{retries}{seven}{rank}"
        f"{eight}{tenant}{nine}",
        f"\1{collection}\2{path}\3{source_type}\4{name}\5{stamp}\6{retries}\7{rank}\b{tenant}\x0e",
        filename,
        stamp,
    )


@lru_cache(maxsize=256)
def _inside(word: str) -> str:
    """A word as it stands inside a JSON text."""
    return _ENCODER.encode(word)[1:-1].decode()


def kept_tail(tail: str) -> str:
    """A tail as entries keep it."""
    for piece, sign in _SHORTER:
        tail = tail.replace(piece, sign)
    return tail
