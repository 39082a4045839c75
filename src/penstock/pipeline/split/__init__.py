"""Splitting: parsed text becomes chunks that fit the model, cut where the text itself has joints."""

from penstock.pipeline.split.splitter import split

__all__ = ["split"]
