"""From bytes to characters: which encoding a text file is in, told from its bytes.

A mark at the start decides. Without one, bytes that are valid UTF-8 are UTF-8: other encodings are so by
chance only in the shortest texts. UTF-16 without a mark shows by where its zeros lie. The rest is guessed
from a sample, and a file full of control bytes is no text at all.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass

from charset_normalizer import from_bytes

from penstock.model.errors import Refused

SAMPLE_BYTES = 64 * 1024
CONTROL_SHARE_MAX = 0.02
INVALID_SHARE_MAX = 0.01
GUESSES = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "koi8_r", "shift_jis", "euc_jp", "gb18030")
GUESSES_MORE = (
    "big5",
    "euc_kr",
    "iso8859_2",
    "iso8859_15",
    "cp1255",
    "cp1256",
    "mac_roman",
    "cp437",
    "cp866",
)
PAGE_ENCODINGS = frozenset(
    {
        *("utf-8", "gb18030", "big5", "big5hkscs", "euc_jp", "iso2022_jp", "cp932", "cp949"),
        *("cp866", "koi8-r", "koi8-u", "mac-roman", "mac-cyrillic", "cp874"),
        *(f"cp{number}" for number in range(1250, 1259)),
        *(f"iso8859-{number}" for number in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
    }
)
"""What a page may be in, by Python's names; other codecs, some of which make no text, are not asked."""
_READ_AS = {
    **{"ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "tis-620": "cp874"},
    **{"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"},
}
"""What browsers take an encoding for: pages use letters of the larger one under the smaller one's name."""
_LABELS = {
    **{"windows-874": "cp874", "windows-31j": "cp932", "x-sjis": "cp932", "windows-949": "cp949"},
    **{"x-gbk": "gb18030", "x-mac-cyrillic": "mac-cyrillic", "iso-8859-8-i": "iso8859-8"},
}
"""Names that pages have and Python has not."""
_LIKE_ASCII = frozenset({"iso2022_jp", "utf-16-le", "utf-16-be"})
"""Written in bytes of ASCII, always or in some scripts, which are valid UTF-8 as well."""
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x1b\x08\x0b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Characters, and what was lost on the way."""

    text: str
    encoding: str
    replaced: int = 0

    @property
    def note(self) -> str | None:
        """What a person should know."""
        if self.replaced:
            return f"{self.replaced} characters could not be read as {self.encoding} and were replaced."
        return None


def load_codecs() -> None:
    """Load every codec there may be need of: where parsing happens, no file can be opened any more."""
    for _, name in MARKS:
        codecs.lookup(name)
    for name in (*GUESSES, *GUESSES_MORE, *PAGE_ENCODINGS, "utf_16", "utf_32"):
        codecs.lookup(name)
    from_bytes("Grüße aus Köln, où ça va très bien, señor.".encode("cp1252") * 4)


def page_encoding(label: str) -> str | None:
    """The encoding a page means by a name; None if pages are not in it."""
    try:
        name = codecs.lookup(_LABELS.get(label.lower(), label)).name
    except LookupError:
        return None
    name = _READ_AS.get(name, name)
    return name if name in PAGE_ENCODINGS else None


def looks_binary(head: bytes) -> bool:
    """Whether the start of a file is no text in any encoding: too many control bytes."""
    if _marked(head) or _zeros(head):
        return False
    return _control_share(head) > CONTROL_SHARE_MAX


def decode(data: bytes, *, claim: str | None = None, lenient: bool = False) -> Decoded:
    """The characters of a text file; Refused with ERR_TEXT_ENCODING if it is no text.

    `claim` is the encoding the text names itself, tried before any guess.
    """
    mark = _marked(data)
    if mark is not None:
        length, encoding = mark
        return _decoded(data[length:], encoding, lenient=lenient)
    wide = _zeros(data[:SAMPLE_BYTES])
    if wide is not None:
        return _decoded(data, wide, lenient=lenient)
    if claim in _LIKE_ASCII and not (found := _decoded(data, claim, lenient=True)).replaced:
        return found
    try:
        return Decoded(text=data.decode(), encoding="utf-8")
    except UnicodeDecodeError as error:
        if _control_share(data[:SAMPLE_BYTES]) > CONTROL_SHARE_MAX and not lenient:
            raise Refused("The bytes are no text.", code="ERR_TEXT_ENCODING") from error
    if claim is not None:
        found = _decoded(data, claim, lenient=True)
        if not found.replaced:
            return found
    return _guessed(data, lenient=lenient)


def _marked(data: bytes) -> tuple[int, str] | None:
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return len(mark), encoding
    return None


def _zeros(sample: bytes) -> str | None:
    """UTF-16 without a mark: mostly Latin text has a zero in nearly every other byte, and only there."""
    count = len(sample) // 2
    if count < 2:
        return None
    even = sample[0 : 2 * count : 2].count(0)
    odd = sample[1 : 2 * count : 2].count(0)
    if odd > 0.6 * count and even < 0.05 * count:
        return "utf-16-le"
    if even > 0.6 * count and odd < 0.05 * count:
        return "utf-16-be"
    return None


def _decoded(data: bytes, encoding: str, *, lenient: bool) -> Decoded:
    text = data.decode(encoding, errors="replace")
    replaced = text.count("\ufffd")
    # A few damaged bytes are told; more means that the mark, or our guess, is wrong.
    if replaced > 1 + INVALID_SHARE_MAX * len(text) and not lenient:
        raise Refused(f"The bytes are no text in {encoding}.", code="ERR_TEXT_ENCODING")
    return Decoded(text=text, encoding=encoding, replaced=replaced)


def _guessed(data: bytes, *, lenient: bool) -> Decoded:
    """Mostly UTF-8 with a few bad bytes, or an older encoding."""
    text = data.decode(errors="replace")
    replaced = text.count("\ufffd")
    # Letters of an older encoding make a valid sequence now and then, and far more often none.
    wide = len(text) - len(text.encode("ascii", "ignore")) - replaced
    if wide > replaced:
        return Decoded(text=text, encoding="utf-8", replaced=replaced)
    best = from_bytes(_sample(data), cp_isolation=[*GUESSES, *GUESSES_MORE]).best()
    if best is None:
        if lenient:
            return Decoded(text=text, encoding="utf-8", replaced=replaced)
        raise Refused("The bytes are no text in any encoding we know.", code="ERR_TEXT_ENCODING")
    return _decoded(data, best.encoding, lenient=lenient)


def _sample(data: bytes) -> bytes:
    """Where the bytes that tell encodings apart are: around the first that is not ASCII."""
    if len(data) <= SAMPLE_BYTES:
        return data
    try:
        data.decode("ascii")
    except UnicodeDecodeError as error:
        start = max(0, error.start - 1024)
        return data[start : start + SAMPLE_BYTES]
    return data[:SAMPLE_BYTES]


def _control_share(sample: bytes) -> float:
    if not sample:
        return 0.0
    controls = sum(sample.count(value) for value in range(32) if value not in _TEXT_CONTROLS)
    return controls / len(sample)
