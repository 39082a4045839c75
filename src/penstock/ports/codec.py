"""The one codec of payloads and metadata, used at every edge: engines, intake, doors.

Submitting is strict (an unknown field is a mistake worth telling); reading what is already stored is lenient
about fields it does not know, strict about the ones it does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields

import msgspec

from penstock.model.errors import Broken, Refused
from penstock.model.events import Event
from penstock.model.parsed import Parsed
from penstock.model.payloads import SHAPES, ItemType, Payload

METADATA_LEVELS_MAX = 32
"""Deeper, and those who read it after us might not be able to."""
_ENCODER = msgspec.json.Encoder()
_PARSED_ENCODER = msgspec.msgpack.Encoder()
_PARSED_DECODER = msgspec.msgpack.Decoder(Parsed)
_DECODERS = {item_type: msgspec.json.Decoder(shape) for item_type, shape in SHAPES.items()}
_KNOWN = {item_type: {f.name for f in fields(shape)} for item_type, shape in SHAPES.items()}


def encode_payload(payload: Payload, *, bytes_max: int) -> str:
    """The payload as JSON text, refused when larger than the limit."""
    data = _ENCODER.encode(payload)
    if len(data) > bytes_max:
        raise Refused(
            f"the payload has {len(data):,} bytes, the limit is {bytes_max:,}", code="ERR_PAYLOAD_TOO_LARGE"
        )
    return data.decode()


def decode_payload(item_type: ItemType, text: str) -> Payload:
    """The payload of a stored row; Refused with ERR_PAYLOAD_INVALID if it has another shape."""
    try:
        return _DECODERS[item_type].decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        if (found := _without_nulls(item_type, text)) is not None:
            return found
        reason = "it holds bytes that are no text" if _is_no_text(text) else error
        raise Refused(f"{item_type} payload: {reason}", code="ERR_PAYLOAD_INVALID") from error


def _without_nulls(item_type: ItemType, text: str) -> Payload | None:
    """The payload where null stands for what may be left out; None if it is not that."""
    try:
        given = msgspec.json.decode(text)
        if not isinstance(given, dict):
            return None
        told = {name: value for name, value in given.items() if value is not None}
        return msgspec.convert(told, type=SHAPES[item_type]) if len(told) < len(given) else None
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None


def _is_no_text(text: str) -> bool:
    """Whether a string in it was never text: bytes of another encoding, or what stands for one in JSON."""
    try:
        json.dumps(json.loads(text), ensure_ascii=False).encode()
    except UnicodeError:
        return True
    except (ValueError, RecursionError):
        return False
    return False


def payload_from(item_type: ItemType, given: Mapping[str, object]) -> Payload:
    """A payload from named values, as programs and people give them; unknown names are refused."""
    unknown = sorted(set(given) - _KNOWN[item_type])
    if unknown:
        known = ", ".join(sorted(_KNOWN[item_type]))
        raise Refused(
            f"{item_type} payload has no field {unknown[0]!r}; it has {known}", code="ERR_PAYLOAD_INVALID"
        )
    try:
        return msgspec.convert(given, type=SHAPES[item_type])
    except (msgspec.ValidationError, RecursionError) as error:
        raise Refused(f"{item_type} payload: {error}", code="ERR_PAYLOAD_INVALID") from error


def encode_metadata(metadata: Mapping[str, object], *, bytes_max: int) -> str:
    """Metadata as JSON text, refused when it is not an object, nested too deep or larger than the limit."""
    if not metadata:
        return "{}"
    if _is_deeper(metadata, METADATA_LEVELS_MAX):
        raise Refused(
            f"the metadata is nested more than {METADATA_LEVELS_MAX} levels deep", code="ERR_METADATA_INVALID"
        )
    try:
        data = _ENCODER.encode(metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise Refused(f"metadata cannot be stored: {error}", code="ERR_METADATA_INVALID") from error
    if len(data) > bytes_max:
        raise Refused(
            f"the metadata has {len(data):,} bytes, the limit is {bytes_max:,}", code="ERR_METADATA_TOO_LARGE"
        )
    return data.decode()


def _is_deeper(value: object, levels: int) -> bool:
    """Whether more containers lie in each other than that."""
    if isinstance(value, Mapping):
        inner: Iterable[object] = value.values()
    elif isinstance(value, list | tuple):
        inner = value
    else:
        return False
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner)


def encode_parsed(parsed: Parsed) -> bytes:
    """A parse as it is kept."""
    return _PARSED_ENCODER.encode(parsed)


def decode_parsed(data: bytes) -> Parsed:
    """A kept parse; Broken if it is none."""
    try:
        return _PARSED_DECODER.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Broken(f"a kept parse cannot be read: {error}", code="ERR_BLOB_DAMAGED") from error


def encode_event(event: Event) -> str:
    """An event's payload as JSON text."""
    return _ENCODER.encode(event).decode()
