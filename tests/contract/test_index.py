"""The two legs of a search: clauses X1 to X5."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE, CollectionId, NewChunk, WorkspaceId
from penstock.model.chunks import Chunk, Vector, text_key
from penstock.model.errors import Refused
from penstock.model.passages import Candidates, Scope
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.contract.index_engines import INDEX_ENGINES
from tests.support.cataloguing import (
    MODEL,
    blob_of,
    declared,
    ingest,
    ingested,
    new_document,
    pay_purges,
    question,
    scope_of,
    vector,
    vector_of,
    write_version,
)
from tests.support.clock import FakeClock
from tests.support.jobs import COLLECTION
from tests.support.servers.qdrant import qdrant_url

__all__ = ["qdrant_url"]


@pytest.fixture(params=sorted(INDEX_ENGINES))
async def home(
    request: pytest.FixtureRequest, tmp_path: Path, rules: Rules, clock: FakeClock
) -> AsyncIterator[Home]:
    """Where the test's store lives, on every index there is."""
    home = Home(INDEX_ENGINES[request.param](request), tmp_path, rules, clock)
    yield home
    await home.close()


async def ground(store: Store, name: str = COLLECTION) -> CollectionId:
    found = await store.catalogue.collection(LOCAL_WORKSPACE, name)
    assert found is not None
    return found.id


async def asked(store: Store, text: str, near: Vector | None = None, **filters: Any) -> Candidates:
    """What one search in the usual collection finds."""
    (found,) = await store.index.candidates(scope_of(await ground(store), **filters), question(text, near))
    return found


async def texts(store: Store, found: Candidates, leg: str = "lexical", **filters: Any) -> list[str]:
    scope = scope_of(await ground(store), **filters)
    chunks = [each.chunk for each in getattr(found, leg)]
    return [each.text for each in await store.index.passages(scope, chunks)]


async def by_words(store: Store, text: str, **filters: Any) -> list[str]:
    return await texts(store, await asked(store, text, **filters), **filters)


async def by_meaning(store: Store, near: Vector, **filters: Any) -> list[str]:
    return await texts(store, await asked(store, "", near, **filters), "dense", **filters)


async def test_both_legs_find_what_is_published(store: Store) -> None:
    """X1: a chunk is found by its words and by its vector."""
    await ingested(store, texts=["the kettle boils", "a quiet river"])

    assert await by_words(store, "boiling kettles") == ["the kettle boils"]
    assert (await by_meaning(store, vector_of("a quiet river")))[0] == "a quiet river"


async def test_a_version_being_built_is_not_found(store: Store) -> None:
    """X1: neither by words nor by vector, though its chunks are written."""

    def build(tx: Transaction) -> None:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        write_version(tx, document.id, shelf.generation, ["unfinished business"])

    await store.write(build)

    found = await asked(store, "unfinished business", vector_of("unfinished business"))
    assert (found.dense, found.lexical) == ((), ())


@pytest.mark.parametrize("purged", [False, True], ids=["before the purge", "after the purge"])
async def test_deleted_and_replaced_text_is_not_found(store: Store, purged: bool) -> None:
    """X1: a delete and a flip count for the next search, and for passages found before."""
    await ingested(store, "/a.txt", ["old edition"])
    deleted = await ingested(store, "/b.txt", ["deleted edition"])
    before = await asked(store, "edition", vector_of("old edition"))
    assert len(before.lexical) == len(before.dense) == 2

    await ingested(store, "/a.txt", ["new edition"])
    await store.write(lambda tx: tx.documents.hide(deleted.id))
    if purged:
        await pay_purges(store.catalogue)

    assert await by_words(store, "edition") == ["new edition"]
    assert await by_meaning(store, vector_of("old edition")) == ["new edition"]
    assert await texts(store, before) == []


async def test_another_process_is_seen_by_the_next_search(home: Home, store: Store) -> None:
    """X2: what the other one publishes, replaces and deletes, also after many searches here."""
    other = await home.open()
    first = await ingested(other, "/a.txt", ["one fish"])
    assert await by_words(store, "fish") == ["one fish"]
    assert await by_meaning(store, vector_of("one fish")) == ["one fish"]

    await ingested(other, "/b.txt", ["two fish"])
    assert sorted(await by_words(store, "fish")) == ["one fish", "two fish"]
    assert (await by_meaning(store, vector_of("two fish")))[0] == "two fish"

    await other.write(lambda tx: tx.documents.hide(first.id))
    assert await by_words(store, "fish") == ["two fish"]
    assert await by_meaning(store, vector_of("one fish")) == ["two fish"]


async def test_a_new_word_is_found_after_it_was_asked_for_in_vain(store: Store) -> None:
    """X2: what is remembered about words never hides a document."""
    await ingested(store, "/a.txt", ["something else"])
    assert await by_words(store, "zebra") == []

    await ingested(store, "/b.txt", ["a zebra crossing"])

    assert await by_words(store, "zebra") == ["a zebra crossing"]


async def test_the_dense_leg_is_exact(store: Store) -> None:
    """X3: the order is that of the cosines, and equal vectors stand in the order of their ids."""
    directions = {
        "east": (1, 0),
        "north": (0, 1),
        "north-east": (1, 1),
        "west": (-1, 0),
        "east again": (1, 0),
    }

    def write(tx: Transaction) -> None:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        version = tx.documents.begin(document.id, shelf.generation, blob_of("compass"), 7)
        tx.kept.keep_vectors(MODEL, [(text_key(n), vector(*to)) for n, to in directions.items()])
        tx.documents.add_chunks(
            version.id,
            MODEL,
            [
                NewChunk(
                    chunk=Chunk(ordinal=at, start=0, end=len(name), tokens=1),
                    text=name,
                    lead="",
                    key=text_key(name),
                )
                for at, name in enumerate(directions)
            ],
        )
        tx.documents.publish(version.id, chunks=len(directions))

    await store.write(write)

    found = await asked(store, "", vector(1, 0))

    assert await texts(store, found, "dense") == ["east", "east again", "north-east", "north", "west"]
    assert [round(each.score, 3) for each in found.dense] == [1.0, 1.0, 0.707, 0.0, -1.0]
    assert (await asked(store, "", vector(1, 0))) == found


async def test_scores_depend_on_a_generations_own_chunks(store: Store) -> None:
    """X4: what another collection holds changes no score."""
    await ingested(store, "/a.txt", ["the red fox", "the brown dog"])
    before = await asked(store, "red fox")

    for at in range(5):
        await ingested(store, f"/{at}.txt", ["a red fox and another red fox"], collection="elsewhere")

    assert (await asked(store, "red fox")).lexical == before.lexical


async def test_titles_count_more_than_text(store: Store) -> None:
    """X4: the chunk under the heading that was asked for stands first."""
    await ingested(store, "/a.txt", ["some turbine words here now"])
    await ingested(store, "/b.txt", ["quite other words here now"], lead="turbine")

    assert (await by_words(store, "turbine"))[0] == "quite other words here now"


async def test_words_are_found_by_their_stems_and_without_accents(store: Store) -> None:
    """X4: running finds run, and cafe finds café."""
    await ingested(store, texts=["they ran and run", "the Café on the corner"])

    assert await by_words(store, "running") == ["they ran and run"]
    assert await by_words(store, "CAFE") == ["the Café on the corner"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("私は東京の図書館で本を読む", "図書館"),
        ("ฉันอ่านหนังสือในห้องสมุด", "หนังสือ"),
        ("黒猫", "猫"),
        ("東京の図書館で", "書"),
        ("대한민국의 수도", "민국"),
    ],
    ids=["Japanese", "Thai", "one letter", "a letter inside", "Korean"],
)
async def test_scripts_without_spaces_are_found_by_their_words(store: Store, text: str, word: str) -> None:
    """X4: a word inside a run of letters is found."""
    await ingested(store, texts=[text, "nothing of that kind"])

    assert await by_words(store, word) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        '"',
        "'; DROP TABLE chunks; --",
        "lead:hello",
        "hello AND",
        "NEAR(hello world",
        "hello*",
        "^hello",
        "{lead text}: hello",
        "\x00hello\x00",
        "🙂 \U0001e900 ͏ \u200b",
        "-hello +world ~x",
        "the",
        "a" * 5000,
        "word " * 3000,
    ],
)
async def test_any_text_may_be_asked(store: Store, text: str) -> None:
    """X5: operators, quotes and odd characters are words or nothing, never an error."""
    await ingested(store)

    found = await by_words(store, text)

    assert found == (["hello world"] if "hello" in text or "world" in text.split() else [])


async def test_a_question_of_empty_words_alone_is_still_asked(store: Store) -> None:
    """X5: stop words are dropped only where others remain."""
    await ingested(store, texts=["to be or not to be"])

    assert await by_words(store, "to be or not to be") == ["to be or not to be"]


async def test_filters_narrow_both_legs(store: Store) -> None:
    """X1: by document, path and metadata, alone and together; a folder is no prefix of its neighbour."""
    inside = await ingested(store, "/docs/a.txt", ["fish inside"], team="red", year=2024)
    await ingested(store, "/docs2/b.txt", ["fish beside"], team="blue", tags=["x", "y"])
    near = vector_of("fish inside")

    for filters, expected in (
        ({"path_prefix": "/docs"}, ["fish inside"]),
        ({"path_prefix": "/docs/a.txt"}, ["fish inside"]),
        ({"path_prefix": "/doc"}, []),
        ({"documents": (inside.id,)}, ["fish inside"]),
        ({"metadata": {"team": "blue"}}, ["fish beside"]),
        ({"metadata": {"tags": "y"}}, ["fish beside"]),
        ({"metadata": {"year": 2024, "team": "red"}}, ["fish inside"]),
        ({"metadata": {"year": "2024"}}, []),
        ({"metadata": {'a"b$.[': 1}}, []),
        ({"documents": (inside.id,), "metadata": {"team": "blue"}}, []),
    ):
        assert await by_words(store, "fish", **filters) == expected
        assert await by_meaning(store, near, **filters) == expected


async def test_passages_keep_to_the_scope(store: Store) -> None:
    """X1: a chunk that was found under a wider scope is not told under a narrower one."""
    await ingested(store, "/a.txt", ["fish one"])
    await ingested(store, "/b.txt", ["fish two"])
    found = await asked(store, "fish")

    assert await texts(store, found, path_prefix="/b.txt") == ["fish two"]


async def test_another_workspace_finds_nothing(store: Store) -> None:
    """X1: naming a foreign collection is naming none."""
    await ingested(store)
    collection = await ground(store)
    found = await asked(store, "hello", vector_of("hello world"))
    foreign = Scope(workspace=WorkspaceId("someone"), collections=(collection,))

    assert await store.index.candidates(foreign, question("hello", vector_of("hello world"))) == []
    assert await store.index.passages(foreign, [each.chunk for each in found.lexical]) == []


async def test_a_passage_tells_where_it_stands(store: Store) -> None:
    """X1: exact text, span, pages, headings and the document's names, in the order asked for."""

    def write(tx: Transaction) -> None:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id, "/report.pdf", year=2024))
        version = tx.documents.begin(document.id, shelf.generation, blob_of("report"), 7)
        tx.kept.keep_vectors(MODEL, [(text_key("k"), vector(1))])
        chunk = Chunk(
            ordinal=3, start=10, end=26, tokens=3, headings=("Part I", "«1»"), page_first=2, page_last=3
        )
        tx.documents.describe(
            document.id, title="The Report", media="pdf", pages=9, metadata_json='{"year":2024}'
        )
        tx.documents.add_chunks(
            version.id, MODEL, [NewChunk(chunk=chunk, text="exact\n\ttext “x”", lead="", key=text_key("k"))]
        )
        tx.documents.publish(version.id, chunks=1)

    await store.write(write)
    (chunk,) = (await asked(store, "exact")).lexical

    (passage,) = await store.index.passages(scope_of(await ground(store)), [chunk.chunk])

    assert (passage.text, passage.start, passage.end, passage.ordinal) == ("exact\n\ttext “x”", 10, 26, 3)
    assert (passage.headings, passage.page_first, passage.page_last) == (("Part I", "«1»"), 2, 3)
    assert (passage.document_name, passage.document_title) == ("report.pdf", "The Report")
    assert (passage.identity, passage.collection) == ("/report.pdf", COLLECTION)
    assert passage.metadata_json == '{"year":2024}'


async def test_each_collection_answers_for_itself(store: Store) -> None:
    """X4: one value for each collection, in the order of the scope."""
    await ingested(store, texts=["fish here"])
    await ingested(store, texts=["fish there"], collection="other")
    scope = scope_of(await ground(store, "other"), await ground(store))

    found = await store.index.candidates(scope, question("fish"))

    ids = [each.lexical[0].chunk for each in found]
    assert [each.text for each in await store.index.passages(scope, ids)] == ["fish there", "fish here"]


async def test_a_vector_of_another_length_is_refused(store: Store) -> None:
    """X3: rather than compared with what it cannot be compared with."""
    await ingested(store)

    with pytest.raises(Refused) as caught:
        await asked(store, "", Vector(b"\0" * 8))
    assert caught.value.code == "ERR_QUERY_INVALID"


async def test_a_model_nobody_asked_with_gives_no_dense_leg(store: Store) -> None:
    """X3: words alone are searched."""
    await ingested(store)

    found = await asked(store, "hello")

    assert found.dense == ()
    assert len(found.lexical) == 1


async def test_more_is_found_than_there_are_gone_chunks_before_it(store: Store) -> None:
    """X1: chunks no reader sees take no place from those they do."""

    def write(tx: Transaction) -> None:
        for at in range(30):
            ingest(tx, f"/{at}.txt", ["fish fish fish"])
            tx.documents.hide(ingest(tx, f"/gone{at}.txt", ["fish fish fish fish"]).id)

    await store.write(write)
    scope = scope_of(await ground(store))

    (found,) = await store.index.candidates(scope, question("fish", vector_of("fish fish fish")), limit=10)

    assert len(found.lexical) == len(found.dense) == 10
    assert len(await store.index.passages(scope, [each.chunk for each in found.lexical])) == 10
