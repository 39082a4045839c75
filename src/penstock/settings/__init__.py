"""The configuration tree: YAML, environment and flags in, frozen and checked values out."""

from penstock.settings.addresses import Address, RedisServer
from penstock.settings.auth import Http
from penstock.settings.collections import (
    DeclaredCollection,
    RecipeChoice,
    SourceFolder,
)
from penstock.settings.descriptions import Description, describe
from penstock.settings.live import Live
from penstock.settings.loading import load
from penstock.settings.masking import Secret
from penstock.settings.problems import ConfigurationError, Problem
from penstock.settings.reference import reference_page
from penstock.settings.tree import (
    CircuitBreaker,
    Limits,
    Observability,
    Producer,
    Reaper,
    Redis,
    Retention,
    Settings,
    Sqlite,
    Tracing,
)
from penstock.settings.worker import Backoff, Worker

__all__ = [
    "Address",
    "Backoff",
    "CircuitBreaker",
    "ConfigurationError",
    "DeclaredCollection",
    "Description",
    "Http",
    "Limits",
    "Live",
    "Observability",
    "Problem",
    "Producer",
    "Reaper",
    "RecipeChoice",
    "Redis",
    "RedisServer",
    "Retention",
    "Secret",
    "Settings",
    "SourceFolder",
    "Sqlite",
    "Tracing",
    "Worker",
    "describe",
    "load",
    "reference_page",
]
