"""Kinds of files that are told by their first bytes, whatever they are called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """Bytes at a place, and what people call a file that has them there."""

    magic: bytes
    what: str
    offset: int = 0
    is_text: bool = False
    """The format itself is text: its bytes need not look otherwise."""


HEAD_BYTES = 8192

SIGNATURES = (
    Signature(magic=b"\x89PNG\r\n\x1a\n", what="a PNG picture"),
    Signature(magic=b"\xff\xd8\xff", what="a JPEG picture"),
    Signature(magic=b"GIF87a", what="a GIF picture"),
    Signature(magic=b"GIF89a", what="a GIF picture"),
    Signature(magic=b"BM", what="a bitmap picture"),
    Signature(magic=b"II*\x00", what="a TIFF picture"),
    Signature(magic=b"MM\x00*", what="a TIFF picture"),
    Signature(magic=b"\x00\x00\x01\x00", what="an icon"),
    Signature(magic=b"8BPS", what="a Photoshop picture"),
    Signature(magic=b"RIFF", what="a sound, film or WebP picture"),
    Signature(magic=b"MZ", what="a Windows program"),
    Signature(magic=b"\x7fELF", what="a Linux program"),
    Signature(magic=b"\xcf\xfa\xed\xfe", what="a macOS program"),
    Signature(magic=b"\xfe\xed\xfa\xcf", what="a macOS program"),
    Signature(magic=b"\xca\xfe\xba\xbe", what="a Java class or macOS program"),
    Signature(magic=b"\x00asm", what="a WebAssembly program"),
    Signature(magic=b"\x1f\x8b", what="a gzip archive"),
    Signature(magic=b"BZh", what="a bzip2 archive"),
    Signature(magic=b"\xfd7zXZ\x00", what="an xz archive"),
    Signature(magic=b"7z\xbc\xaf\x27\x1c", what="a 7-Zip archive"),
    Signature(magic=b"Rar!\x1a\x07", what="a RAR archive"),
    Signature(magic=b"\x28\xb5\x2f\xfd", what="a Zstandard archive"),
    Signature(magic=b"ustar", what="a tar archive", offset=257),
    Signature(magic=b"ID3", what="a sound"),
    Signature(magic=b"OggS", what="a sound or film"),
    Signature(magic=b"fLaC", what="a sound"),
    Signature(magic=b"ftyp", what="a film or HEIC picture", offset=4),
    Signature(magic=b"\x1aE\xdf\xa3", what="a film"),
    Signature(magic=b"SQLite format 3\x00", what="an SQLite database"),
    Signature(magic=b"PAR1", what="a Parquet table"),
    Signature(magic=b"wOFF", what="a font"),
    Signature(magic=b"wOF2", what="a font"),
    Signature(magic=b"\x00\x01\x00\x00\x00", what="a font"),
    Signature(magic=b"OTTO\x00", what="a font"),
    Signature(magic=b"{\\rtf", what="a Rich Text document", is_text=True),
    Signature(magic=b"%!PS", what="a PostScript document", is_text=True),
    Signature(magic=b"ITSF", what="a Windows help file"),
)


def recognised(head: bytes, *, binary: bool) -> str | None:
    """What kind of file this is, if it is one of those that are not read.

    Magic made of letters counts only where the bytes around it are no text: a page about GIF89a may begin so.
    """
    for signature in SIGNATURES:
        if head.startswith(signature.magic, signature.offset) and (binary or not _is_plain(signature)):
            return signature.what
    return None


def _is_plain(signature: Signature) -> bool:
    """Whether ordinary text may hold its magic."""
    return not signature.is_text and signature.magic.isascii() and signature.magic.decode().isprintable()
