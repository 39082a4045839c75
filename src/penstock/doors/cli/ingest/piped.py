"""What comes through a pipe where text should come: told by its first bytes."""

from __future__ import annotations

FILES = (
    (b"%PDF-", "a PDF"),
    (b"PK\x03\x04", "an Office document, a book or another zip archive"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Office document of the old kind"),
)


def kind_of(data: bytes) -> str | None:
    """What people call it; None where it may be text."""
    for magic, what in FILES:
        if data.startswith(magic):
            return what
    # Late: it knows the encodings of the world, which no other command needs.
    from penstock.pipeline.parse.decoding import looks_binary
    from penstock.pipeline.parse.signatures import HEAD_BYTES, recognised

    head = data[:HEAD_BYTES]
    return recognised(head, binary=True) if looks_binary(head) else None
