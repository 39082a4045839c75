"""Penstock brings documents to answers and loses nothing between."""

from importlib.metadata import version

__version__ = version("penstock")
