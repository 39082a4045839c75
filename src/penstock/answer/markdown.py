"""Answers are shown as Markdown, and none of it may act: no HTML, no image, no link, whatever a model wrote.

An image's address can carry what a document made the model tell; a link can lead astray; HTML can do
anything. Taking such things out needs a parser that agrees with every viewer's, and what is taken out can
leave something new behind. So nothing is taken out: between the two characters each of them needs side by
side a space is put. What was a link is then its text and its address in brackets; the way to a source is its
citation's number. The space depends on what stands before it and on the next character alone, so a stream
is made safe piece by piece, as it would be in one, and nothing has to wait.
"""

from __future__ import annotations

import re

_APART = re.compile(
    r"(?<=<)(?=[a-z/!?])"  # a tag, a comment, an address in angle brackets
    r"|(?<=!)(?=\[)"  # an image
    r"|(?<=\])(?=[(:])"  # a link, the definition of one
    r"|(?<=:/)(?=/)"  # an address that viewers make a link of by themselves
    r"|(?<=\bwww\.)(?=\S)"
    r"|(?<=\bmailto:)(?=\S)"
    r"|(?<=\bxmpp:)(?=\S)"
    r"|(?<=\bdata:)(?=\S)"
    r"|(?<=\bvbscript:)(?=\S)"
    r"|(?<=\bjavascript:)(?=\S)",
    re.IGNORECASE,
)
_LOOKED_BACK = 16
"""More than the longest of them has."""
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""Characters nobody sees, and those that turn the direction of others."""


class MarkdownSieve:
    """Takes a stream of text and gives it on so that no viewer of Markdown does anything but show it."""

    def __init__(self) -> None:
        self._before = ""

    def feed(self, text: str) -> str:
        """The piece, safe after all that came before it."""
        piece = self._before + _UNSEEN.sub("", text)
        seen = len(self._before)
        safe, at = "", seen
        for found in _APART.finditer(piece):
            if found.start() >= seen:
                safe += piece[at : found.start()] + " "
                at = found.start()
        self._before = piece[-_LOOKED_BACK:]
        return safe + piece[at:]


def safe_markdown(text: str) -> str:
    """A whole text made safe."""
    return MarkdownSieve().feed(text)
