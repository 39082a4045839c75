"""The tree as a whole: frozen, shown, described."""

import pickle
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, is_dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.settings import describe, load
from tests.support.settings_files import Configuration


def keys_of(tree: dict[str, Any], like: Any) -> Iterator[str]:
    """The dotted keys of a shown tree; a section is a mapping that is a dataclass in the settings."""
    for name, value in tree.items():
        section = getattr(like, name)
        if isinstance(value, dict) and is_dataclass(section):
            yield from (f"{name}.{key}" for key in keys_of(value, section))
        else:
            yield name


def test_settings_cannot_be_changed() -> None:
    """Neither a value, nor a section, nor a mapping in it takes another value."""
    settings = load(None, {}, {})

    with pytest.raises(FrozenInstanceError):
        settings.worker.count = 2  # type: ignore[misc]
    with pytest.raises(TypeError):
        settings.worker.queues["high"] = "x"  # type: ignore[index]
    assert hash(settings) == hash(load(None, {}, {}))


def test_settings_reach_another_process() -> None:
    """Settings survive the trip to a child process unchanged."""
    settings = load(None, {}, {"redis.password": "one", "queue": "redis://a", "worker.leases": {"file": 9}})

    assert pickle.loads(pickle.dumps(settings)) == settings  # noqa: S301 -- our own bytes


@pytest.mark.parametrize("flags", [{}, {"worker.backoff.base": "1s", "worker.backoff.max": "2s"}])
def test_shown_tree_loads_to_the_same_settings(tmp_path: Path, flags: dict[str, object]) -> None:
    """What is shown is a configuration file for what is in force."""
    settings = load(None, {}, flags)
    shown = settings.as_shown()
    # Showing writes the retry delays out even while a backoff replaces them.
    if settings.worker.backoff:
        del shown["worker"]["retry_delays"]

    assert Configuration(tmp_path).load(yaml.safe_dump(shown)) == settings


def test_every_key_is_described_once_and_whole() -> None:
    """The descriptions are the tree: every key, with type, default, variable and a full sentence."""
    settings = load(None, {}, {"worker.backoff.base": "1s", "worker.backoff.max": "2s"})
    described = list(describe())

    assert sorted(each.key for each in described) == sorted(keys_of(settings.as_shown(), settings))
    assert all(each.type and each.default for each in described)
    assert all(each.meaning.endswith(".") and "\n" not in each.meaning for each in described)


def test_variables_are_distinct_and_follow_the_path() -> None:
    """No two keys share a variable, and each is the path in upper snake case."""
    names = {each.key: each.environment for each in describe()}

    assert len(set(names.values())) == len(names)
    assert names["worker.backoff.base"] == "PENSTOCK_WORKER_BACKOFF_BASE"
    assert names["data"] == "PENSTOCK_DATA"


def test_every_section_says_what_it_is_for() -> None:
    """Sections are explained by their docstrings, which the reference prints."""
    settings = load(None, {}, {})
    sections = [section for name in settings.as_shown() if is_dataclass(section := getattr(settings, name))]

    assert len(sections) >= 9
    assert all((section.__doc__ or "").endswith(".") for section in sections)
