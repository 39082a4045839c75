"""Generations, debts and purges: clauses K13 to K15."""

import pytest

from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    Collection,
    Debt,
    DebtKind,
    Document,
    DocumentState,
    GenerationId,
    KeptParse,
    NewDebt,
)
from penstock.model.chunks import text_key
from penstock.model.errors import Broken, Refused
from penstock.model.outcomes import Failed
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.support.cataloguing import (
    MODEL,
    PURGES,
    blob_of,
    claimed_job,
    declared,
    ingest,
    ingested,
    new_chunks,
    new_document,
    pay_purges,
    question,
    scope_of,
    submitted,
    vector_of,
    version_id,
    write_version,
)
from tests.support.clock import FakeClock
from tests.support.jobs import COLLECTION, a_job, an_error

NEEDS_DATABASE = True

OTHER_RECIPE = '{"model":"toy","size":2}'


async def shelf(store: Store) -> Collection:
    found = await store.catalogue.collection(LOCAL_WORKSPACE, COLLECTION)
    assert found is not None
    return found


async def opened(store: Store) -> GenerationId:
    """A generation being built beside the answering one."""
    return (await store.write(lambda tx: tx.shelves.open_generation(declared(tx).id, OTHER_RECIPE))).id


def build(tx: Transaction, document: Document, generation: GenerationId, *texts: str) -> None:
    version = write_version(tx, document.id, generation, texts)
    tx.documents.publish(version.id, chunks=len(texts))


async def swap(store: Store) -> bool:
    return await store.write(lambda tx: tx.shelves.swap(declared(tx).id))


async def found_texts(store: Store, text: str) -> list[str]:
    """What a search by words gives, as readers get it."""
    scope = scope_of((await shelf(store)).id)
    (found,) = await store.index.candidates(scope, question(text))
    passages = await store.index.passages(scope, [each.chunk for each in found.lexical])
    return [each.text for each in passages]


async def test_a_generation_answers_from_its_swap_on(store: Store) -> None:
    """K13: before it the old words are found and the new are not; after it the other way round."""
    document = await ingested(store, texts=["ancient words"])
    generation = await opened(store)
    await store.write(lambda tx: build(tx, document, generation, "ancient words", "modern words"))
    assert await found_texts(store, "modern") == []

    assert await swap(store)

    assert await found_texts(store, "modern") == ["modern words"]
    after = await shelf(store)
    assert (after.generation, after.building, after.recipe_json) == (generation, None, OTHER_RECIPE)


async def test_an_incomplete_generation_does_not_swap(store: Store) -> None:
    """K13: one document short, and the old generation goes on answering."""
    first, second = await ingested(store, "/a.txt"), await ingested(store, "/b.txt", ["second"])
    generation = await opened(store)
    await store.write(lambda tx: build(tx, first, generation, "hello world"))

    assert not await swap(store)
    assert [each.id for each in await store.catalogue.unbuilt(generation)] == [second.id]

    await store.write(lambda tx: build(tx, second, generation, "second"))
    assert await store.catalogue.unbuilt(generation) == []
    assert await swap(store)


async def test_a_generation_of_older_bytes_does_not_swap(store: Store) -> None:
    """K13: an edit made while a generation was built is not undone by its swap."""
    document = await ingested(store, texts=["first edition"])
    generation = await opened(store)
    await store.write(lambda tx: build(tx, document, generation, "first edition"))
    await ingested(store, texts=["second edition"])

    assert not await swap(store)

    await store.write(lambda tx: build(tx, document, generation, "second edition"))
    assert await swap(store)
    assert await found_texts(store, "edition") == ["second edition"]


async def test_deleted_and_never_ingested_documents_hold_no_swap_up(store: Store) -> None:
    """K13: only what readers see must be there."""
    document = await ingested(store, "/a.txt")
    await store.write(lambda tx: tx.documents.admit(new_document(document.collection, "/never.txt")))
    generation = await opened(store)
    await store.write(lambda tx: tx.documents.hide(document.id))

    assert await swap(store)
    assert (await shelf(store)).generation == generation


async def test_documents_that_cannot_be_built_may_be_left_behind(store: Store) -> None:
    """K13: by name only, and not while a job is at work on one of them."""
    kept, left = await ingested(store, "/a.txt", ["kept"]), await ingested(store, "/b.txt", ["left"])
    generation = await opened(store)
    await store.write(lambda tx: build(tx, kept, generation, "kept"))
    job = await submitted(store, a_job("/b.txt"))
    assert await store.write(lambda tx: tx.stages.expect(left.id, job))

    assert await store.write(lambda tx: tx.shelves.coverage(left.collection)) == (2, 1)
    assert not await store.write(lambda tx: tx.shelves.swap(left.collection, without=[kept.id]))
    assert not await store.write(lambda tx: tx.shelves.swap(left.collection, without=[left.id]))
    lease = await claimed_job(store.queue)
    await store.queue.settle([(lease, Failed(an_error()))])
    assert not await store.write(lambda tx: tx.stages.expect(left.id, job))
    assert await store.write(lambda tx: tx.shelves.swap(left.collection, without=[left.id]))

    assert await found_texts(store, "kept left") == ["kept"]
    found = await store.catalogue.document(LOCAL_WORKSPACE, left.id)
    assert found is not None
    assert (found.state, found.version) == (DocumentState.ERROR, None)


async def test_a_version_can_be_carried_into_a_generation_of_its_model(store: Store) -> None:
    """K13: chunks, words and vectors as they were; the document's state and what failed for it stay apart."""
    document = await ingested(store, texts=["first", "second"])
    generation = await opened(store)
    failed = await store.write(lambda tx: write_version(tx, document.id, generation, ["half"]))

    def carry(tx: Transaction) -> None:
        version = tx.documents.carry(document.id, generation)
        assert version is not None
        tx.documents.publish(version.id, chunks=2, carried=True)

    await store.write(carry)
    assert await swap(store)
    await pay_purges(store.catalogue)

    assert sorted(await found_texts(store, "first second half")) == ["first", "second"]
    near = question("nothing", vector_of("second"))
    (found,) = await store.index.candidates(scope_of(document.collection), near)
    assert found.dense[0].score == pytest.approx(1.0, abs=1e-3)
    assert await store.catalogue.version(failed.id) is None
    assert await store.catalogue.version(version_id(document)) is None


async def test_vectors_of_another_model_are_not_carried(store: Store) -> None:
    """K13: nothing is written, and the generation still waits for the document."""
    first, second = await ingested(store, "/a.txt", ["first"]), await ingested(store, "/b.txt", ["second"])
    generation = await opened(store)

    def build_otherwise(tx: Transaction) -> None:
        version = tx.documents.begin(first.id, generation, blob_of("first"), 1)
        tx.kept.keep_vectors("other", [(text_key("first"), vector_of("first"))])
        tx.documents.add_chunks(version.id, "other", new_chunks(["first"]))
        tx.documents.publish(version.id, chunks=1)

    await store.write(build_otherwise)

    assert await store.write(lambda tx: tx.documents.carry(second.id, generation)) is None
    assert not await swap(store)


async def test_a_second_rebuild_of_the_same_recipe_joins_the_first(store: Store) -> None:
    """K13: one of another recipe takes its place, and the purge of what was built is owed."""
    await ingested(store)
    first = await opened(store)

    assert await opened(store) == first
    other = await store.write(lambda tx: tx.shelves.open_generation(declared(tx).id, '{"third":3}'))

    assert other.id != first
    assert await store.write(lambda tx: tx.shelves.is_building(other.id))
    owed = await store.catalogue.take_debts(PURGES, "me")
    assert [(debt.kind, debt.about) for debt in owed] == [(DebtKind.PURGE_GENERATION, str(first))]


async def test_a_rebuild_can_be_given_up(store: Store) -> None:
    """K13: the old generation never stopped answering."""
    document = await ingested(store)
    generation = await opened(store)
    await store.write(lambda tx: build(tx, document, generation, "hello world"))

    assert await store.write(lambda tx: tx.shelves.abandon(document.collection))
    assert not await store.write(lambda tx: tx.shelves.abandon(document.collection))

    await pay_purges(store.catalogue)
    assert await store.write(lambda tx: tx.shelves.generation(generation)) is None
    assert await found_texts(store, "hello") == ["hello world"]


async def test_a_version_for_a_replaced_generation_is_not_published(store: Store) -> None:
    """K13: its job is told to try again, which finds the new generation."""
    document = await ingested(store)
    old = (await shelf(store)).generation
    version = await store.write(lambda tx: write_version(tx, document.id, old, ["late"]))
    generation = await opened(store)
    await store.write(lambda tx: build(tx, document, generation, "hello world"))
    assert await swap(store)

    with pytest.raises((Broken, Refused)):
        await store.write(lambda tx: tx.documents.publish(version.id, chunks=1))


async def test_a_debt_is_held_by_one_owner_at_a_time(store: Store, clock: FakeClock) -> None:
    """K14: nobody else is given it for ten seconds; then it is due again, with one try more."""
    await store.write(lambda tx: tx.debts.owe(NewDebt(kind=DebtKind.MOVE, about="/a")))
    await store.write(lambda tx: tx.debts.owe(NewDebt(kind=DebtKind.MOVE, about="/a")))

    (first,) = await store.catalogue.take_debts([DebtKind.MOVE], "a")
    assert await store.catalogue.take_debts([DebtKind.MOVE], "b") == []
    clock.advance(61)
    (second,) = await store.catalogue.take_debts([DebtKind.MOVE], "b")

    assert (first.about, first.tries, second.tries) == ("/a", 1, 2)


async def test_a_debt_is_owed_until_it_is_paid(home: Home, store: Store, clock: FakeClock) -> None:
    """K14: put off, taken again after a crash, and gone only when paid."""
    await store.write(lambda tx: tx.debts.owe(NewDebt(kind=DebtKind.MOVE, about="/a", details_json="[1]")))
    (debt,) = await store.catalogue.take_debts([DebtKind.MOVE], "a")
    await store.catalogue.put_off(debt, "the folder is away", seconds=300)
    assert await store.catalogue.take_debts([DebtKind.MOVE], "a") == []

    again = await home.crash(store)
    clock.advance(301)
    (taken,) = await again.catalogue.take_debts([DebtKind.MOVE], "a")
    assert taken.details_json == "[1]"
    await again.write(lambda tx: tx.debts.paid(taken))
    clock.advance(600)
    assert await again.catalogue.take_debts([DebtKind.MOVE], "a") == []


async def test_who_came_too_late_puts_nothing_off(store: Store, clock: FakeClock) -> None:
    """K14: the debt belongs to whoever took it last."""
    await store.write(lambda tx: tx.debts.owe(NewDebt(kind=DebtKind.MOVE, about="/a")))
    (slow,) = await store.catalogue.take_debts([DebtKind.MOVE], "slow")
    clock.advance(61)
    await store.catalogue.take_debts([DebtKind.MOVE], "quick")

    await store.catalogue.put_off(slow, "sorry", seconds=9999)

    clock.advance(61)
    assert len(await store.catalogue.take_debts([DebtKind.MOVE], "next")) == 1


async def test_only_the_kinds_asked_for_are_taken(store: Store) -> None:
    """K14: each trade is given its own."""
    await store.write(lambda tx: tx.debts.owe(NewDebt(kind=DebtKind.MOVE, about="/a")))

    assert await store.catalogue.take_debts(PURGES, "purger") == []


async def test_a_purged_document_leaves_nothing(store: Store) -> None:
    """K15: no version, stage, parse or vector no other chunk uses; what others use stays."""
    gone = await ingested(store, "/a.txt", ["mine alone", "shared"])
    await ingested(store, "/b.txt", ["shared"])
    blob = gone.blob
    assert blob is not None
    await store.write(
        lambda tx: tx.kept.keep_parse(KeptParse(blob=blob, parser="p", result=blob_of("parsed")))
    )

    await store.write(lambda tx: tx.documents.hide(gone.id))
    await pay_purges(store.catalogue)

    keys = [text_key("mine alone"), text_key("shared")]
    assert await store.catalogue.known_vectors(MODEL, keys) == {keys[1]}
    assert await store.catalogue.version(version_id(gone)) is None
    assert await store.write(lambda tx: tx.kept.parse_of(blob, "p")) is None
    assert await store.write(lambda tx: tx.documents.get(gone.id)) is None
    assert await store.catalogue.unused_blobs([blob, blob_of("parsed")]) == {blob, blob_of("parsed")}
    assert await found_texts(store, "shared") == ["shared"]


async def test_a_purge_works_in_portions(store: Store) -> None:
    """K15: no portion is larger than asked for, and the last one pays the debt."""
    document = await ingested(store, texts=[f"text {at}" for at in range(10)])
    await store.write(lambda tx: tx.documents.hide(document.id))

    assert await pay_purges(store.catalogue, limit=3) >= 4
    assert await store.catalogue.take_debts(PURGES, "me") == []


async def test_a_purge_begun_and_broken_off_is_taken_up(home: Home, store: Store, clock: FakeClock) -> None:
    """K15: after a crash half-way the rest goes too."""
    document = await ingested(store, texts=[f"text {at}" for at in range(10)])
    await store.write(lambda tx: tx.documents.hide(document.id))
    (debt,) = await store.catalogue.take_debts(PURGES, "me")
    assert not await store.catalogue.purge(debt, limit=4)

    again = await home.crash(store)
    clock.advance(61)
    await pay_purges(again.catalogue)

    assert await again.catalogue.version(version_id(document)) is None


@pytest.mark.parametrize("kind", [DebtKind.PURGE_VERSION, DebtKind.PURGE_DOCUMENT, DebtKind.PURGE_GENERATION])
async def test_what_readers_see_is_never_purged(store: Store, kind: DebtKind) -> None:
    """K15: a purge owed by mistake is paid by doing nothing."""
    document = await ingested(store)
    about = {
        DebtKind.PURGE_VERSION: str(document.version),
        DebtKind.PURGE_DOCUMENT: document.id,
        DebtKind.PURGE_GENERATION: str((await shelf(store)).generation),
    }[kind]

    assert await store.catalogue.purge(Debt(id=1, kind=kind, about=about, details_json="{}", tries=1))
    assert await found_texts(store, "hello") == ["hello world"]


async def test_a_removed_collection_vanishes_at_once_and_then_for_good(store: Store) -> None:
    """K15: its name is free, its documents are gone, and the purges leave nothing."""
    document = await ingested(store)
    old = await shelf(store)

    await store.write(lambda tx: tx.shelves.remove(old.id))

    assert await store.catalogue.collections(LOCAL_WORKSPACE) == []
    assert await store.catalogue.document(LOCAL_WORKSPACE, document.id) is None
    assert await store.index.candidates(scope_of(old.id), question("hello", vector_of("hello world"))) == []
    new = await store.write(declared)
    assert new.id != old.id
    await pay_purges(store.catalogue, limit=1)
    assert await store.write(lambda tx: tx.shelves.generation(old.generation)) is None
    assert await store.write(lambda tx: tx.documents.get(document.id)) is None
    assert await store.catalogue.known_vectors(MODEL, [text_key("hello world")]) == set()


async def test_what_nobody_used_for_a_week_is_swept(store: Store, clock: FakeClock) -> None:
    """K15: vectors and parses of ingests that never ended go; those in use stay."""
    await ingested(store, texts=["used"])
    left = KeptParse(blob=blob_of("left"), parser="p", result=blob_of("result"))

    def leave(tx: Transaction) -> None:
        tx.kept.keep_vectors(MODEL, [(text_key("left"), vector_of("left"))])
        tx.kept.keep_parse(left)

    await store.write(leave)
    assert await store.catalogue.sweep() == 0
    clock.advance(8 * 24 * 3600)

    assert await store.catalogue.sweep() == 2
    assert await store.catalogue.known_vectors(MODEL, [text_key("left"), text_key("used")]) == {
        text_key("used")
    }
    clock.jump(100 * 365 * 24 * 3600)  # whatever clock the debt was dated by
    freed = await store.catalogue.take_debts([DebtKind.FREE_BLOB], "me")
    assert {debt.about for debt in freed} == {left.blob, left.result}


async def test_a_rename_hidden_twin_is_purged_too(store: Store) -> None:
    """K15: what a rename replaced leaves nothing either."""

    def move(tx: Transaction) -> None:
        moved, _ = ingest(tx, "/a.txt", ["moved"]), ingest(tx, "/b.txt", ["replaced"])
        tx.documents.rename(moved.id, "/b.txt", "b.txt")

    await store.write(move)
    await pay_purges(store.catalogue)

    assert await found_texts(store, "replaced") == []
    assert await store.catalogue.known_vectors(MODEL, [text_key("replaced")]) == set()
