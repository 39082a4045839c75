"""The projection: what is kept outside the database is made of it, compared with it, and made again from it.

The order is everything. Chunks are committed first; their points are put next; then the version is flipped.
So a reader, who checks every point against the database, sees a version whole or not at all, and whoever is
killed in between leaves points that nobody sees and that the next attempt puts again under the same numbers.
Removing goes the other way: rows first, and what is owed is written with them; then the points whose rows are
gone. A chunk's number is never used again, so such a point can never be needed, whoever is late or early.

A space no version belongs to is dropped. A version may be begun just then, and its first points go with the
space; so the drop is a debt too, and it is paid when a look after it finds nobody there, or all points.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing

from penstock.model.catalogue import Debt, DebtKind, NewDebt, VersionId
from penstock.model.diagnosis import Disagreement, Flaw
from penstock.model.errors import Broken
from penstock.model.points import Space, Subject, SubjectKind
from penstock.ports.manifest import Listed, Manifest
from penstock.ports.vectors import Vectors

PORTION = 256
PAGE = 1000
SUBJECTS = {
    DebtKind.PURGE_VERSION: SubjectKind.VERSION,
    DebtKind.PURGE_DOCUMENT: SubjectKind.DOCUMENT,
    DebtKind.PURGE_GENERATION: SubjectKind.GENERATION,
}
"""Whose points a purge leaves behind."""
SPACE = "space"
"""What stands before a space's name in a debt."""


class Projection:
    """Keeps the points of one database in step with it."""

    def __init__(self, manifest: Manifest, vectors: Vectors) -> None:
        self._manifest = manifest
        self._vectors = vectors

    async def put(self, version: VersionId, between: Callable[[], Awaitable[None]] | None = None) -> None:
        """Put all points of a version whose chunks are committed; again changes nothing.

        `between` two portions, whoever puts may tell that it goes on, or learn that it must not.
        """
        space = await self._manifest.space_of(version)
        first = 0
        while space is not None:
            points = await self._manifest.points(version, first=first, limit=PORTION)
            await self._vectors.put(space, points)
            first += len(points)
            if len(points) < PORTION:
                return
            if between is not None:
                await between()

    async def withdraw(self, version: VersionId) -> None:
        """Take back what a late attempt put of a version that was purged meanwhile."""
        await self.clear(Subject(kind=SubjectKind.VERSION, id=str(version)))

    async def is_purged(self, debt: Debt) -> bool:
        """Whether the rows are gone whose points a debt is about."""
        kind, about = purge_of(debt)
        return not await self._manifest.is_owed(kind, about)

    async def clear(self, subject: Subject | None = None) -> int:
        """Remove the points that have no chunk any more, of a subject or of all; how many went."""
        return sum([await self._clear(space, subject) for space in await self._vectors.spaces()])

    async def unneeded(self) -> list[Space]:
        """Spaces no version belongs to."""
        return [space for space in await self._vectors.spaces() if not await self._manifest.is_needed(space)]

    async def let_go(self, space: Space) -> bool:
        """Drop a space no version belongs to; False while it must be looked at again."""
        if not await self._manifest.is_needed(space):
            await self._vectors.drop(space)
            return not await self._manifest.is_needed(space)
        if await self._manifest.is_needed(space, building=True):
            return False
        async for each in self._lacking(space):
            await self.mend(each)
        return True

    async def flaws(self, *, limit: int, deep: bool = False) -> list[Disagreement]:
        """Where points and chunks disagree, either way; at most so many of a kind; `deep` reads points."""
        found = await _some(self._lacking(), limit)
        if deep:
            found += await _some(self._differing(), limit)
        count = sum([len(await self._unneeded(space)) for space in await self._vectors.spaces()])
        if count:
            told = f"{count} vectors in the vector store belong to no chunk"
            found.append(Disagreement(flaw=Flaw.VECTORS_UNUSED, about=str(count), sentence=told))
        return found

    async def coverage(self) -> tuple[int, int]:
        """How many points there are, and how many there should be at least."""
        points = sum([await self._vectors.count(space) for space in await self._vectors.spaces()])
        return points, await self._manifest.size()

    async def mend(self, flaw: Disagreement) -> bool:
        """Put what lacks from the database, remove what nothing needs; nothing is embedded for it."""
        match flaw.flaw:
            case Flaw.VECTORS_MISSING | Flaw.VECTORS_DIFFER:
                await self.put(VersionId(int(flaw.about)))
            case Flaw.VECTORS_UNUSED:
                await self.clear()
            case _:
                return False
        return True

    async def _lacking(self, space: Space | None = None) -> AsyncGenerator[Disagreement, None]:
        """Versions some points of which are not there, of one space or of all."""
        after = 0
        while listed := await self._manifest.current(after=after):
            after = listed[-1].version
            listed = [each for each in listed if space in (None, each.space)]
            known = await self._known(listed)
            for each in listed:
                count = sum(known.get(chunk) != each.version for chunk in each.chunks)
                if count and await self._is_current(each):
                    told = f"{each.name}: {count} of {len(each.chunks)} chunks are not in the vector store"
                    yield Disagreement(
                        flaw=Flaw.VECTORS_MISSING,
                        about=str(each.version),
                        sentence=told,
                        document=each.document,
                    )

    async def _differing(self) -> AsyncGenerator[Disagreement, None]:
        """Versions some points of which are there and are not what their chunks say."""
        after = 0
        while listed := await self._manifest.current(after=after):
            after = listed[-1].version
            for each in listed:
                count = await self._count_differing(each)
                if count and await self._is_current(each):
                    told = f"{each.name}: {count} of {len(each.chunks)} chunks differ in the vector store"
                    yield Disagreement(
                        flaw=Flaw.VECTORS_DIFFER,
                        about=str(each.version),
                        sentence=told,
                        document=each.document,
                    )

    async def _count_differing(self, listed: Listed) -> int:
        count = first = 0
        while points := await self._manifest.points(listed.version, first=first, limit=PORTION):
            count += len(await self._vectors.differing(listed.space, points))
            first += len(points)
        return count

    async def _known(self, listed: Sequence[Listed]) -> Mapping[int, VersionId]:
        found: dict[int, VersionId] = {}
        for space in {each.space for each in listed}:
            chunks = [chunk for each in listed if each.space == space for chunk in each.chunks]
            for at in range(0, len(chunks), PAGE):
                found |= await self._vectors.known(space, chunks[at : at + PAGE])
        return found

    async def _is_current(self, listed: Listed) -> bool:
        """Looked at again: it may have been replaced since it was listed."""
        again = await self._manifest.current(after=listed.version - 1, limit=1)
        return bool(again) and again[0].version == listed.version

    async def _clear(self, space: Space, subject: Subject | None) -> int:
        unneeded = await self._unneeded(space, subject)
        for at in range(0, len(unneeded), PAGE):
            await self._vectors.remove(space, unneeded[at : at + PAGE])
        return len(unneeded)

    async def _unneeded(self, space: Space, subject: Subject | None = None) -> list[int]:
        """The points first and the rows after them: a point is put only when its row is there."""
        unneeded: list[int] = []
        after = 0
        while chunks := await self._vectors.page(space, subject=subject, after=after, limit=PAGE):
            unneeded += await self._manifest.missing(chunks)
            after = chunks[-1]
        return unneeded


async def _some(flaws: AsyncGenerator[Disagreement, None], limit: int) -> list[Disagreement]:
    found: list[Disagreement] = []
    async with aclosing(flaws):
        async for each in flaws:
            found.append(each)
            if len(found) == limit:
                break
    return found


def points_debt(purge: Debt) -> NewDebt:
    """What a purge owes outside the database."""
    return NewDebt(kind=DebtKind.PURGE_POINTS, about=f"{SUBJECTS[purge.kind]}:{purge.about}")


def space_debt(space: Space) -> NewDebt:
    """What is owed where no version belongs to a space."""
    return NewDebt(kind=DebtKind.PURGE_POINTS, about=f"{SPACE}:{space.recipe}:{space.dimension}")


def space_of(debt: Debt) -> Space | None:
    """The space a debt is about; None where it is about points."""
    kind, *named = debt.about.split(":")
    return Space(recipe=named[0], dimension=int(named[1])) if kind == SPACE else None


def subject_of(debt: Debt) -> Subject:
    """Whose points a debt is about."""
    kind, separator, about = debt.about.partition(":")
    if not separator:
        raise Broken(f"a debt is about {debt.about!r}, which names no points")
    return Subject(kind=SubjectKind(kind), id=about)


def purge_of(debt: Debt) -> tuple[DebtKind, str]:
    """The purge that must be done before."""
    subject = subject_of(debt)
    (kind,) = [purge for purge, whose in SUBJECTS.items() if whose is subject.kind]
    return kind, subject.id
