"""The model as a graph for onnxruntime: token ids of one text in, one vector of length one out.

Written for how it is used here. A call embeds one text, so there is no padding and nothing to mask; matrix
products are done in 8 bits with the shipped weights as they are; attention is one fused operator; the mean
over tokens and the scaling to length one belong to the graph. Against quantising the exported graph anew this
does the same arithmetic in half the time, and a text's vector cannot depend on its neighbours in a batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.engines.minilm.weights import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import NodeProto, TensorProto

LAYERS = 6
HEADS = 12
DIMENSION = 384
POSITIONS = 512
EPSILON = 1e-12
FUSED = "com.microsoft"
INPUT = "token_ids"
OUTPUT = "vector"


def model_bytes(weights: Weights) -> bytes:
    """The whole model, ready for a session."""
    from onnx import TensorProto, helper

    draft = _Draft(weights)
    last = draft.embeddings()
    for layer in range(LAYERS):
        last = draft.layer(f"encoder.layer.{layer}", last)
    draft.pooled(last)
    ids = helper.make_tensor_value_info(INPUT, TensorProto.INT64, [1, "tokens"])
    vector = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, [1, DIMENSION])
    graph = helper.make_graph(draft.nodes, "minilm", [ids], [vector], draft.constants)
    versions = [helper.make_opsetid("", 17), helper.make_opsetid(FUSED, 1)]
    return bytes(helper.make_model(graph, opset_imports=versions, ir_version=8).SerializeToString())


class _Draft:
    """Nodes and constants in the making; every method adds some and returns the name of its result."""

    def __init__(self, weights: Weights) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self._weights = weights

    def embeddings(self) -> str:
        """Words, positions and the one token type there is, summed and normalised."""
        import numpy

        words = self._weights.matrices["embeddings.word_embeddings.weight"]
        places = self._weights.matrices["embeddings.position_embeddings.weight"]
        kind = self._weights.vectors["embeddings.token_type_embeddings.weight"][0]
        numbers = self._node("Gather", "words.numbers", self._constant("words", words.numbers), INPUT)
        scales = self._node("Gather", "words.scales_of", self._constant("words.scales", words.scales), INPUT)
        floats = self._node("Cast", "words.floats", numbers, to=1)
        scaled = self._node("Mul", "words.scaled", floats, scales)
        length = self._node("Shape", "length", INPUT, start=1)
        zero = self._constant("zero", numpy.zeros(1, dtype=numpy.int64))
        table = self._constant("places", places.numbers.astype(numpy.float32) * places.scales + kind)
        placed = self._node("Add", "placed", scaled, self._node("Slice", "place", table, zero, length, zero))
        return self._normal("embeddings.LayerNorm", placed)

    def layer(self, name: str, before: str) -> str:
        """One block: attention, then two dense layers, each added to what came in and normalised."""
        asked = [self._dense(f"{name}.attention.self.{part}", before) for part in ("query", "key", "value")]
        seen = self._node("MultiHeadAttention", f"{name}.seen", *asked, domain=FUSED, num_heads=HEADS)
        told = self._dense(f"{name}.attention.output.dense", seen)
        told = self._node("Add", f"{name}.told", told, before)
        told = self._normal(f"{name}.attention.output.LayerNorm", told)
        wide = self._dense(f"{name}.intermediate.dense", told)
        wide = self._node("Gelu", f"{name}.bent", wide, domain=FUSED)
        narrow = self._dense(f"{name}.output.dense", wide)
        narrow = self._node("Add", f"{name}.sum", narrow, told)
        return self._normal(f"{name}.output.LayerNorm", narrow)

    def pooled(self, last: str) -> str:
        """The mean over all tokens, at length one, as the model's card asks."""
        mean = self._node("ReduceMean", "mean", last, axes=[1], keepdims=0)
        return self._node("LpNormalization", OUTPUT, mean, axis=-1, p=2)

    def _dense(self, name: str, value: str) -> str:
        matrix = self._weights.matrices[name]
        numbers = self._constant(f"{name}.numbers", matrix.numbers)
        scales = self._constant(f"{name}.scales", matrix.scales.reshape(-1))
        bias = self._constant(f"{name}.bias", self._weights.vectors[f"{name}.bias"])
        return self._node("DynamicQuantizeMatMul", name, value, numbers, scales, "", bias, domain=FUSED)

    def _normal(self, name: str, value: str) -> str:
        slope = self._constant(f"{name}.weight", self._weights.vectors[f"{name}.weight"])
        shift = self._constant(f"{name}.bias", self._weights.vectors[f"{name}.bias"])
        return self._node("LayerNormalization", name, value, slope, shift, axis=-1, epsilon=EPSILON)

    def _constant(self, name: str, array: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def _node(self, operator: str, name: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, [name], name, domain=domain, **attributes))
        return name
