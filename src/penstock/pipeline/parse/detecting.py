"""What a file is, by what is in it.

Formats with a signature are what their bytes say, whatever the name: a PDF called notes.txt is read as a PDF.
Among formats that are text the name decides, unless the bytes plainly say otherwise. A name that claims a
format with a signature its bytes do not have is a lie, most often a failed download, and is refused.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import BinaryIO

from penstock.model.errors import Refused
from penstock.model.parsed import Media
from penstock.pipeline.parse.archives import Archive
from penstock.pipeline.parse.damage import Damaged, refusal
from penstock.pipeline.parse.decoding import looks_binary
from penstock.pipeline.parse.endings import LANGUAGES, NOT_TEXT, claimed, ending_of
from penstock.pipeline.parse.manuscript import Limits
from penstock.pipeline.parse.signatures import HEAD_BYTES, recognised

PDF_MAGIC_WITHIN = 1024
ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
OLD_OFFICE_HEADER_BYTES = 512
OLD_OFFICE_LOOK_BYTES = 1 << 20
ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)?(?:<!doctype\s+html|<html[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_SVG = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,1000}?-->\s*)?(?:<!doctype\s+svg|<svg[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_SHEBANG = re.compile(rb"#!\s*/(?:\S*/)?(?:env\s+)?([a-z]+)[\d.]*\s*$", re.MULTILINE)
_INTERPRETERS = {"python": "python", "sh": "shell", "bash": "shell", "zsh": "shell", "node": "javascript"}
_INTERPRETERS |= {"ruby": "ruby", "perl": "perl", "php": "php", "lua": "lua"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Detected:
    """A format, and what the name claimed if that was something else."""

    media: Media
    language: str | None = None
    note: str | None = None


def detect(file: BinaryIO, name: str, limits: Limits, *, lenient: bool) -> Detected:
    """Decide what the file is; Refused if it is nothing that can be read."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    if not head:
        raise Refused("The file is empty.", code="ERR_FILE_EMPTY")
    claim, binary = claimed(name), looks_binary(head)
    found = _by_signature(file, head, name, limits, binary=binary)
    if found is not None:
        return _with_note(found, claim)
    kind = recognised(head, binary=binary)
    if kind is None and _SVG.match(head) and ending_of(name) in ("svg", ""):
        kind = "an SVG picture"
    if kind is not None:
        raise _foreign(kind, name, claim)
    if claim in NOT_TEXT:
        return _unfounded(claim, name, binary=binary, lenient=lenient)
    if binary and not lenient:
        raise _no_text(name, claim)
    return _text(head, name, claim)


def _by_signature(file: BinaryIO, head: bytes, name: str, limits: Limits, *, binary: bool) -> Media | None:
    if _is_pdf(head, claimed(name), binary=binary):
        return Media.PDF
    if head.startswith(ZIP_MAGICS):
        return _package(file, name, limits)
    if head.startswith(OLD_OFFICE):
        if _holds_encrypted(file, head):
            raise Refused("The document is encrypted and needs a password.", code="ERR_ENCRYPTED")
        raise _foreign("a document of an Office from before 2007", name, claimed(name))
    return None


def _is_pdf(head: bytes, claim: Media | None, *, binary: bool) -> bool:
    """A PDF may have something before its header; a text with the header in its midst speaks of one.

    And what begins as another format only holds one, unless its name says that it is one all the same.
    """
    speaks_of_one = claim not in NOT_TEXT and not binary
    if speaks_of_one or (claim is not Media.PDF and _begins_as_another(head)):
        return head.startswith(b"%PDF-")
    return b"%PDF-" in head[:PDF_MAGIC_WITHIN]


def _begins_as_another(head: bytes) -> bool:
    return head.startswith((*ZIP_MAGICS, OLD_OFFICE)) or recognised(head, binary=True) is not None


def _holds_encrypted(file: BinaryIO, head: bytes) -> bool:
    """Whether a container of the old kind lists an encrypted package; its list may lie behind the package."""
    if len(head) >= OLD_OFFICE_HEADER_BYTES:
        size_bits, sector = struct.unpack_from("<H16xI", head, 30)
        file.seek((sector + 1) << min(size_bits, 12))
        if ENCRYPTED_PACKAGE in file.read(OLD_OFFICE_LOOK_BYTES):
            return True
    file.seek(0)
    return ENCRYPTED_PACKAGE in file.read(OLD_OFFICE_LOOK_BYTES)


def _package(file: BinaryIO, name: str, limits: Limits) -> Media:
    """Which of the formats made of a zip archive this is, by the parts it has."""
    claim = claimed(name)
    try:
        with Archive(file, limits) as archive:
            found, kind = archive.media(), archive.kind
    except Damaged as error:
        if claim in NOT_TEXT and claim is not Media.PDF:
            raise refusal(claim, error) from error
        raise Refused(f"The file is a damaged zip archive: {error}", code="ERR_TYPE_UNSUPPORTED") from error
    if found is None:
        raise _foreign(kind, name, claim)
    return found


def _with_note(media: Media, claim: Media | None) -> Detected:
    if claim is media or claim is None:
        return Detected(media=media)
    return Detected(media=media, note=f"The name claims {claim.value}, but the file is {media.value}.")


def _foreign(kind: str, name: str, claim: Media | None) -> Refused:
    if claim is None:
        return Refused(f"The file is {kind}, which is not read.", code="ERR_TYPE_UNSUPPORTED")
    return Refused(
        f"The name ends in .{ending_of(name)[:20]}, but the file is {kind}.", code="ERR_TYPE_MISMATCH"
    )


def _no_text(name: str, claim: Media | None) -> Refused:
    if claim is None:
        return Refused("The file is in no format that can be read.", code="ERR_TYPE_UNSUPPORTED")
    return Refused(
        f"The name ends in .{ending_of(name)[:20]}, but the bytes are no text.", code="ERR_TEXT_ENCODING"
    )


def _unfounded(claim: Media | None, name: str, *, binary: bool, lenient: bool) -> Detected:
    """The name claims a format whose signature is missing: damage if it is not text, a lie if it is."""
    if claim is None:
        raise Refused("The file is in no format that can be read.", code="ERR_TYPE_UNSUPPORTED")
    if binary and claim is Media.PDF and lenient:
        return Detected(media=claim)
    if binary:
        raise refusal(claim, Damaged("its first bytes are not those of the format"))
    if not lenient:
        raise Refused(
            f"The name ends in .{ending_of(name)[:20]}, but the file is plain text.", code="ERR_TYPE_MISMATCH"
        )
    return Detected(media=Media.TEXT, note=f"The name claims {claim.value}, but the file is plain text.")


def _text(head: bytes, name: str, claim: Media | None) -> Detected:
    if claim is Media.CODE:
        return Detected(media=Media.CODE, language=LANGUAGES[ending_of(name)])
    if claim is not None and claim is not Media.TEXT:
        return Detected(media=claim)
    if _HTML.match(head):
        return _with_note(Media.HTML, claim)
    shebang = _SHEBANG.match(head)
    if shebang and claim is None:
        language = _INTERPRETERS.get(shebang[1].decode())
        return Detected(media=Media.CODE, language=language) if language else Detected(media=Media.TEXT)
    return Detected(media=Media.TEXT)
