"""Whether chunks are what stands at their places in the text they were cut from.

The text is the kept parse of the document's bytes. Where none is kept any more, a chunk must at least be as
long as its place.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Sequence

from penstock.model.diagnosis import Disagreement, Flaw, Laid
from penstock.model.errors import Broken, Unavailable
from penstock.model.files import blob_hash
from penstock.model.standing import counted
from penstock.ports.auditing import Auditor
from penstock.ports.blobs import Blobs
from penstock.ports.codec import decode_parsed

Span = tuple[int, int, str]


async def misplaced(
    auditor: Auditor, blobs: Blobs, *, known: Collection[str | None] = ()
) -> AsyncGenerator[Disagreement, None]:
    """Versions of which a chunk is not what stands at its place; not of documents `known` to be flawed."""
    after = 0
    while laid := await auditor.laid(after=after):
        after = laid[-1].version
        for each in laid:
            if each.document not in known and (count := await _misplaced(auditor, blobs, each)):
                yield Disagreement(
                    flaw=Flaw.CHUNK_SPANS,
                    about=str(each.version),
                    sentence=f"{each.name}: {counted(count, 'chunk')} of version {each.version} not found "
                    "at their place in its text",
                    document=each.document,
                )


async def _misplaced(auditor: Auditor, blobs: Blobs, laid: Laid) -> int:
    """How many chunks of a version lie elsewhere; by the text that fits best."""
    spans = await auditor.spans(laid.version)
    texts = [text for parse in laid.parses if (text := await _text(blobs, parse)) is not None]
    if not texts:
        return sum(end - start != len(said) or start < 0 for start, end, said in spans)
    return min([await asyncio.to_thread(_count, text, spans) for text in texts])


def _count(text: str, spans: Sequence[Span]) -> int:
    return sum(
        # A slice ends where its text does: one that reaches further would look as it should.
        not 0 <= start <= end <= len(text) or text[start:end] != said
        for start, end, said in spans
    )


async def _text(blobs: Blobs, parse: str) -> str | None:
    """The text of a kept parse; None where it cannot be read, which is another flaw."""
    try:
        with await blobs.open(blob_hash(parse)) as file:
            return decode_parsed(await asyncio.to_thread(file.read)).text
    except (Broken, Unavailable):
        return None
