"""Vectors in a Qdrant server, by its REST interface."""

from penstock.engines.qdrant.index import ProjectedIndex
from penstock.engines.qdrant.server import Server
from penstock.engines.qdrant.vectors import QdrantVectors

__all__ = ["ProjectedIndex", "QdrantVectors", "Server"]
