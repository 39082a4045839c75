"""Answers are shown as Markdown, and none of it may act: no HTML, no image, no link, whatever a model wrote.

An image's address can carry what a document made the model tell; a link can lead astray; HTML can do
anything. Taking such things out needs a parser that agrees with every viewer's, and what is taken out can
leave something new behind. So nothing is taken out: between the two characters each of them needs side by
side a space is put. What was a link is then its text and its address in brackets; the way to a source is its
citation's number. The space depends on what stands before it and on the next character alone, so a stream
is made safe piece by piece, as it would be in one, and nothing has to wait.

A bare name (`evil.example/path`, and `notes.md` just as well) is left as it is: viewers make no link of it
unless they are told to guess, and to break every dot would spoil names of files and numbers.
"""

from __future__ import annotations

import re
from dataclasses import replace

from penstock.model.answers import Answer

_APART = re.compile(
    r"(?<=<)(?=[a-z/!?])"  # a tag, a comment, an address in angle brackets
    r"|(?<=!)(?=\[)"  # an image
    r"|(?<=\])(?=[(:])"  # a link, the definition of one
    r"|(?<=:/)(?=/)"  # an address that viewers make a link of by themselves
    r"|(?<=//)(?=\w)"
    r"|(?<=[\w.+-]@)(?=\w)"
    r"|(?<=(?<![^\W_])www\.)(?=\S)"  # also behind an underscore, which \b takes for a letter
    r"|(?<=\bmailto:)(?=\S)"
    r"|(?<=\bxmpp:)(?=\S)"
    r"|(?<=\bdata:)(?=\S)"
    r"|(?<=\bvbscript:)(?=\S)"
    r"|(?<=\bjavascript:)(?=\S)",
    re.IGNORECASE,
)
_LOOKED_BACK = 16
"""More than the longest of them has."""
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Characters nobody sees, and those that turn the direction of others; joiners stay, which scripts need."""


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


def safe_to_show(answer: Answer) -> Answer:
    """An answer with its text made safe, and its claims where they stand in that; quotations stay exact."""
    sieve, text, at = MarkdownSieve(), "", 0
    moved: dict[int, int] = {}
    for place in sorted({place for each in answer.claims for place in (each.start, each.end)}):
        text += sieve.feed(answer.text[at:place])
        moved[place], at = len(text), place
    text += sieve.feed(answer.text[at:])
    claims = tuple(replace(each, start=moved[each.start], end=moved[each.end]) for each in answer.claims)
    return replace(answer, text=text, claims=claims)
