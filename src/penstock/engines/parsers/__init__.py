"""Parsing in child processes that a bad file may kill: a few warm ones, each with limits and shut in."""

from penstock.engines.parsers.abilities import Abilities, abilities
from penstock.engines.parsers.pool import Bounds, Parsers

__all__ = ["Abilities", "Bounds", "Parsers", "abilities"]
