"""The bundled model: all-MiniLM-L6-v2 with 8-bit weights on onnxruntime, nothing fetched at run time."""

from penstock.engines.minilm.embedder import MODEL, BundledEmbedder
from penstock.engines.minilm.tokenizer import BundledTokenizer

__all__ = ["MODEL", "BundledEmbedder", "BundledTokenizer"]
