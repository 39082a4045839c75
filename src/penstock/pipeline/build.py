"""Building a version: parse, then split, embed and index, then the flip.

Each step keeps its result where the next attempt finds it: the bytes as a blob, the parse by bytes and
parser, every vector by model and text, every chunk by version and ordinal. An attempt that follows a crash
walks the same road and finds most of it done; nothing of it is seen by readers before the last step.

    captured ──▶ begin ──▶ parse ──▶ split ──▶ embed what is new ──▶ chunks ──▶ publish
                 (write)   (write)             (a write a batch)    (in one write with the last batch)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import aclosing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TypeVar

from penstock.model.advice import SALVAGEABLE
from penstock.model.catalogue import (
    LOCAL_TENANT,
    BlobId,
    Document,
    Generation,
    KeptParse,
    NewChunk,
    StageId,
    StageKind,
    Version,
    VersionId,
)
from penstock.model.chunks import Chunk, Piece, Vector
from penstock.model.errors import Broken, Fault, Refused, Unavailable, Unkept
from penstock.model.files import BlobHash
from penstock.model.jobs import Lease, TenantId
from penstock.model.options import Options
from penstock.model.parsed import Parsed
from penstock.model.payloads import Content
from penstock.model.recipes import kept_recipe
from penstock.model.stored_json import stored_object
from penstock.model.vector_keys import vector_key
from penstock.pipeline.capture import Captured
from penstock.pipeline.parse import PARSER
from penstock.pipeline.split import split
from penstock.pipeline.workshop import Workshop
from penstock.ports.attempt import Attempt
from penstock.ports.codec import decode_parsed, encode_parsed
from penstock.ports.database import Transaction
from penstock.ports.lookup import collection_of

T = TypeVar("T")
SWAPS_MAX = 5
"""How often one attempt begins anew because its collection was swapped, or vectors purged, under it."""
PORTION = 256
"""Chunks that are looked up, embedded and written together: memory stays flat in the document's length."""


Vectors = list[tuple[bytes, Vector]]
"""Each with the key of its text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A document with the versions that are to be built of it."""

    document: Document
    stage: StageId
    targets: tuple[tuple[Generation, Version], ...]
    parse: KeptParse | None
    """If these bytes were parsed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """What is left to write of a version together with its flip, and how many chunks there are in all."""

    version: VersionId
    vectors: Vectors
    chunks: list[NewChunk]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Which characters of a text are being embedded, and how many chunks were written before."""

    start: int
    end: int
    of: int
    chunks: int

    def reached(self, left: int, pieces: int) -> int:
        """About how far it is with so many pieces left."""
        return self.end - (self.end - self.start) * left // pieces


class Builder:
    """Makes captured bytes searchable."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def build(self, attempt: Attempt, captured: Captured, options: Options) -> None:
        """Until readers see the new version; does nothing where they see these bytes already.

        A swap in the midst of it takes a generation away that a version was begun for: that is nobody's
        fault, so it is begun again for those there are now. What was parsed and embedded is kept. Likewise a
        purge may take vectors that were there when they were looked for: they are embedded again.
        """
        for _ in range(SWAPS_MAX):
            begun = await self._write(attempt.lease, lambda tx: _begin(tx, attempt, captured, options))
            if begun is None:
                return
            try:
                await self._build(attempt, captured, options, begun)
            except Unkept:
                continue
            except (Refused, Broken) as fault:
                if fault.code == "ERR_DOCUMENT_UNKNOWN" or not await self._is_overtaken(attempt, begun):
                    raise
            else:
                return
        raise Unavailable(
            "the collection was swapped or purged again and again meanwhile", code="ERR_STORE_BUSY"
        )

    async def _write(self, lease: Lease, work: Callable[[Transaction], T]) -> T:
        """Write for the attempt; while more is asked of the model than it works on, a moment costs nobody."""
        return await self._shop.write(lease, work, patient=self._shop.embedding.is_crowded)

    async def _is_overtaken(self, attempt: Attempt, begun: Begun) -> bool:
        """Whether a generation that a version was begun for has been replaced since."""
        lease = attempt.lease
        now = await self._write(lease, lambda tx: collection_of(tx, lease.tenant, lease.collection))
        return any(generation.id not in (now.generation, now.building) for generation, _ in begun.targets)

    async def _build(self, attempt: Attempt, captured: Captured, options: Options, begun: Begun) -> None:
        parsed, anew = await self._parse(attempt, captured, options, begun.parse)
        stage = await self._write(
            attempt.lease, lambda tx: _to_ingest(tx, attempt, begun, parsed, anew, options)
        )
        rests: list[Rest] = []
        for generation, version in begun.targets:
            if rests:  # the next version's chunks are mostly the same
                await self._keep(attempt, rests[-1].vectors)
            rests.append(await self._index(attempt, parsed, generation, version))
        await self._project(attempt, parsed, rests)
        model = self._shop.embedding.model

        def publish(tx: Transaction) -> None:
            for rest in rests:
                tx.kept.keep_vectors(model, rest.vectors)
                tx.documents.add_chunks(rest.version, model, rest.chunks)
                tx.documents.publish(rest.version, chunks=rest.total)
            tx.kept.note_file(begun.document.id, mark=options.mark, root=options.root)
            tx.stages.finish(attempt.lease, stage)

        try:
            await self._write(attempt.lease, publish)
        except (Refused, Unkept) as fault:
            if isinstance(fault, Refused):
                await self._withdraw(rests)
            with suppress(Fault):  # the refusal counts; what was embedded is worth keeping where it can be
                await self._keep(attempt, [each for rest in rests for each in rest.vectors])
            raise

    async def _project(self, attempt: Attempt, parsed: Parsed, rests: list[Rest]) -> None:
        """Put what is kept outside the database there, before the flip lets readers look for it."""
        if self._shop.projection is None:
            return
        model = self._shop.embedding.model
        going_on = partial(attempt.progress, len(parsed.text), len(parsed.text))
        for rest in rests:
            await self._write(
                attempt.lease,
                partial(
                    _add_chunks, version=rest.version, model=model, vectors=rest.vectors, chunks=rest.chunks
                ),
            )
            await self._shop.projection.put(rest.version, going_on)

    async def _withdraw(self, rests: list[Rest]) -> None:
        """This attempt came too late: what it put for a version that was purged meanwhile goes again."""
        if self._shop.projection is not None:
            with suppress(Fault):  # the sweeper finds it too
                for rest in rests:
                    await self._shop.projection.withdraw(rest.version)

    async def _parse(
        self, attempt: Attempt, captured: Captured, options: Options, kept: KeptParse | None
    ) -> tuple[Parsed, KeptParse | None]:
        """The document's text, and the parse to keep if it was made just now."""
        limits = await self._shop.limits_of(attempt.lease)
        if kept is not None:
            parsed = await self._read(kept.result)
            limits.check_pages(len(parsed.pages))
            return parsed, None
        with attempt.aside() as step_aside, _salvaging(options):
            parsed = await self._parse_anew(captured, options, attempt.lease.tenant, step_aside)
        limits.check_pages(len(parsed.pages))
        blob = await self._shop.blobs.put_bytes(encode_parsed(parsed))
        key = parse_key(captured.name, options, attempt.lease.tenant)
        return parsed, KeptParse(blob=captured.blob, parser=key, result=BlobId(blob.hash))

    async def _parse_anew(
        self, captured: Captured, options: Options, tenant: TenantId, slow: Callable[[], None]
    ) -> Parsed:
        """Parse; a file on which the parser dies gets one more try in a fresh child, then it is poison."""
        async with self._shop.blobs.path_of(BlobHash(captured.blob)) as path:
            parse = partial(
                self._shop.parser.parse,
                path,
                captured.name,
                lenient=options.skip_validation,
                owner=tenant,
                slow=slow,
            )
            try:
                return await parse()
            except Broken as broken:
                if broken.code != "ERR_PARSER_CRASHED":
                    raise
            try:
                return await parse()
            except Broken as broken:
                if broken.code != "ERR_PARSER_CRASHED":
                    raise
                raise Refused(
                    f"the parser died twice on {captured.name}: {broken.message}", code="ERR_POISON"
                ) from broken

    async def _read(self, result: BlobId) -> Parsed:
        file = await self._shop.blobs.open(BlobHash(result))
        with file:
            return decode_parsed(await asyncio.to_thread(file.read))

    async def _index(
        self, attempt: Attempt, parsed: Parsed, generation: Generation, version: Version
    ) -> Rest:
        """Write the chunks of the version, each with its vector, but for the last few of both."""
        recipe = kept_recipe(generation.recipe_json)
        model = self._shop.embedding.model
        if recipe.model != model:
            raise Unavailable(
                f"the collection is made with {recipe.model}, this worker embeds with {model}; "
                "reindex the collection or set embedder back",
                code="ERR_CONFIGURATION",
            )
        pieces = split(parsed, recipe, self._shop.tokenizer)
        total = done = 0
        while True:
            portion = await asyncio.to_thread(_some, pieces)
            part = Part(
                start=done, end=portion[-1][0].end if portion else done, of=len(parsed.text), chunks=total
            )
            vectors = await self._embed(attempt, [piece for _, piece in portion], part)
            tenant = attempt.lease.tenant
            chunks = [_new_chunk(parsed, chunk, vector_key(piece.key, tenant)) for chunk, piece in portion]
            total += len(portion)
            if len(portion) < PORTION:
                return Rest(version=version.id, vectors=vectors, chunks=chunks, total=total)
            await self._write(
                attempt.lease,
                partial(_add_chunks, version=version.id, model=model, vectors=vectors, chunks=chunks),
            )
            done = part.end
            await attempt.progress(done, part.of, chunks=total)

    async def _embed(self, attempt: Attempt, pieces: list[Piece], part: Part) -> Vectors:
        """See to it that every piece has its vector; each batch is kept as soon as it is there.

        The last one is the caller's to keep: it has more to write at that moment, and one commit costs less.
        """
        model = self._shop.embedding.model
        wanted = {vector_key(piece.key, attempt.lease.tenant): piece for piece in pieces}
        known = await self._shop.catalogue.known_vectors(model, list(wanted)) if wanted else set()
        missing = [(key, piece) for key, piece in wanted.items() if key not in known]
        left = len(missing)
        async with aclosing(self._shop.embedding.embed([piece for _, piece in missing])) as batches:
            async for vectors in batches:
                found = [(missing[at][0], vector) for at, vector in vectors]
                left -= len(found)
                if not left:
                    return found
                await self._keep(attempt, found)
                await attempt.progress(part.reached(left, len(missing)), part.of, chunks=part.chunks)
        return []

    async def _keep(self, attempt: Attempt, vectors: Vectors) -> None:
        if vectors:
            model = self._shop.embedding.model
            await self._write(attempt.lease, lambda tx: tx.kept.keep_vectors(model, vectors))


def _add_chunks(
    tx: Transaction, version: VersionId, model: str, vectors: Vectors, chunks: list[NewChunk]
) -> None:
    tx.kept.keep_vectors(model, vectors)
    tx.documents.add_chunks(version, model, chunks)


@contextmanager
def _salvaging(options: Options) -> Iterator[None]:
    """A file that is refused though validation was skipped is not advised to skip it."""
    try:
        yield
    except Refused as refused:
        if not options.skip_validation or refused.code not in SALVAGEABLE:
            raise
        raise Refused(refused.message, code="ERR_UNSALVAGEABLE") from refused


def parse_key(name: str, options: Options, tenant: TenantId) -> str:
    """By what a parse is remembered beside the bytes: the parser, the hint of the name, its leniency.

    And whose it is: who saw that bytes need no parsing would learn that another tenant has them.
    """
    _, dot, ending = name.rpartition(".")
    whose = "" if tenant == LOCAL_TENANT else f"@{tenant}"
    return f"{PARSER}:{ending.lower() if dot else ''}{':lenient' if options.skip_validation else ''}{whose}"


def _begin(tx: Transaction, attempt: Attempt, captured: Captured, options: Options) -> Begun | None:
    """Admit the document and begin a version in each generation that lacks these bytes."""
    lease = attempt.lease
    if (code := tx.told_to_end(lease)) is not None:
        # Its document may be deleted already: admitted again, it would come back.
        raise Refused("the job was told to end before it began", code=code)
    collection = collection_of(tx, lease.tenant, lease.collection)
    kept_recipe(collection.recipe_json, collection.name)  # without an index nothing would be built, or told
    document = tx.documents.admit(captured.new_document(tx, lease, options), job=lease.job_id)
    stage = tx.stages.begin(lease, document.id, StageKind.PARSE)
    wanted = {collection.generation, collection.building}
    if options.reindex:
        # A retry of what a rebuild failed at may come after the swap.
        wanted = {collection.building or collection.generation}
    elif document.version is not None and document.blob == captured.blob and not options.rebuild:
        wanted.discard(collection.generation)
    found = [tx.shelves.generation(generation) for generation in sorted(filter(None, wanted))]
    targets = tuple(
        (generation, tx.documents.begin(document.id, generation.id, captured.blob, captured.size))
        for generation in found
        if generation is not None
    )
    if targets:
        parse = tx.kept.parse_of(captured.blob, parse_key(captured.name, options, lease.tenant))
        return Begun(document=document, stage=stage, targets=targets, parse=parse)
    tx.documents.touch(document.id, metadata_json=_metadata(document, lease, options), branch=lease.branch)
    tx.kept.note_file(document.id, mark=options.mark, root=options.root)
    tx.stages.finish(lease, stage)
    return None


def _to_ingest(
    tx: Transaction,
    attempt: Attempt,
    begun: Begun,
    parsed: Parsed,
    anew: KeptParse | None,
    options: Options,
) -> StageId:
    if anew is not None:
        tx.kept.keep_parse(anew)
    tx.documents.describe(
        begun.document.id,
        title=parsed.title,
        media=parsed.media,
        pages=len(parsed.pages) or None,
        metadata_json=_metadata(begun.document, attempt.lease, options),
        branch=attempt.lease.branch,
    )
    tx.stages.finish(attempt.lease, begun.stage)
    return tx.stages.begin(attempt.lease, begun.document.id, StageKind.INGEST)


def _metadata(document: Document, lease: Lease, options: Options) -> str:
    """What is said of a document now, over what was said before unless that is to go.

    A text's full tag is said of it too; its main tag is its name.
    """
    kept = stored_object(document.metadata_json) if options.preserve_metadata else {}
    tag = lease.payload.full_tag if isinstance(lease.payload, Content) else None
    said = {**({} if tag is None else {"full_tag": tag}), **options.document}
    return json.dumps({**kept, **said}, ensure_ascii=False)


def _some(pieces: Iterator[tuple[Chunk, Piece]]) -> list[tuple[Chunk, Piece]]:
    return list(islice(pieces, PORTION))


def _new_chunk(parsed: Parsed, chunk: Chunk, key: bytes) -> NewChunk:
    # Most often the title is the first heading; said twice it would count twice.
    lead = " > ".join(dict.fromkeys(filter(None, (parsed.title, *chunk.headings))))
    return NewChunk(chunk=chunk, text=parsed.text[chunk.start : chunk.end], lead=lead, key=key)
