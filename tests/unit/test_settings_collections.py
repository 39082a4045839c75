"""Collections in the configuration: what may be written, what is refused, and at which key."""

import json
from pathlib import Path

import pytest

from penstock.model.collections import CollectionLimits
from penstock.settings import DeclaredCollection, RecipeChoice, SourceFolder
from penstock.settings.yaml_file import NODES_MAX
from tests.support.settings_files import Configuration

WHOLE = """
collections:
  handbook:
    description: What everyone should know
    recipe: {chunk_tokens: 200, overlap_tokens: 40}
    limits: {file_bytes: 20MiB, pages: 500}
    sources:
      - path: /srv/handbook
        patterns: ["*.md", "*.pdf"]
        ignore_patterns: ["drafts/*"]
        recursive_depth: 4
        watch: false
      - {path: /srv/policies, recursive: false}
  notes:
"""


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


def faults(configuration: Configuration, text: str) -> dict[str, str]:
    """What is refused, by key."""
    return {each.key: each.wrong for each in configuration.refused(text)}


def test_a_collection_is_read_whole(configuration: Configuration) -> None:
    """Every key reaches its place, and one that is declared with nothing has every default."""
    found = configuration.load(WHOLE).collections

    assert found["notes"] == DeclaredCollection()
    assert found["handbook"] == DeclaredCollection(
        description="What everyone should know",
        recipe=RecipeChoice(chunk_tokens=200, overlap_tokens=40),
        limits=CollectionLimits(file_bytes=20 << 20, pages=500),
        sources=(
            SourceFolder(
                path=Path("/srv/handbook"),
                patterns=("*.md", "*.pdf"),
                ignore_patterns=("drafts/*",),
                recursive_depth=4,
                watch=False,
            ),
            SourceFolder(path=Path("/srv/policies"), recursive=False),
        ),
    )
    assert [source.depth for source in found["handbook"].sources] == [4, 0]


def test_what_is_shown_can_be_read_back(configuration: Configuration) -> None:
    """The shown tree is a configuration for the same collections."""
    import yaml

    settings = configuration.load(WHOLE)

    assert configuration.load(yaml.safe_dump(settings.as_shown())) == settings


def test_a_variable_gives_collections_as_json(configuration: Configuration) -> None:
    """The environment can declare collections too."""
    given = json.dumps({"notes": {"recipe": {"chunk_tokens": 128}, "sources": [{"path": "/srv/notes"}]}})

    found = configuration.load(environ={"PENSTOCK_COLLECTIONS": given}).collections

    assert found["notes"].recipe.chunk_tokens == 128
    assert found["notes"].sources[0].path == Path("/srv/notes")


def test_every_fault_is_told_at_its_own_key(configuration: Configuration) -> None:
    """Unknown keys, wrong values, missing ones and wrong names are told together, each by its path."""
    told = faults(
        configuration,
        """
        collections:
          handbook:
            recipe: {chunk_tokens: many}
            sources:
              - {path: /srv/a, pattern: ["*.md"]}
              - {patterns: ["*.pdf"]}
          my-rag: {limit: 3}
          low:
          odd: 3
        """,
    )

    assert set(told) == {
        "collections.handbook.recipe.chunk_tokens",
        "collections.handbook.sources[1].pattern",
        "collections.handbook.sources[2].path",
        "collections.my-rag",
        "collections.my-rag.limit",
        "collections.low",
        "collections.odd",
    }
    assert told["collections.low"] == "it is the name of a priority"


def test_every_fault_is_told_with_its_line(configuration: Configuration) -> None:
    """That of its key or item; of what is missing, that of what it is missing from."""
    text = """collections:
  high: {}
  notes:
    recipe:
      chunk_tokens: 5
    sources:
      - path: /srv
        recursive_depth: 99
      - watch: true
"""
    found = {each.key: each.source.rpartition(" ")[2] for each in configuration.refused(text)}

    assert found == {
        "collections.high": "2",
        "collections.notes.recipe.chunk_tokens": "5",
        "collections.notes.sources[1].recursive_depth": "8",
        "collections.notes.sources[2].path": "9",
    }


def test_a_misspelt_key_is_answered_with_the_right_one(configuration: Configuration) -> None:
    """The nearest key is offered."""
    (problem,) = configuration.refused("collections: {a: {sources: [{path: /x, ignore_pattern: []}]}}")

    assert problem.right == "did you mean ignore_patterns?"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("{recipe: {chunk_tokens: 100, overlap_tokens: 60}}", "collections.a.recipe.overlap_tokens"),
        (
            "{sources: [{path: /x, recursive: false, recursive_depth: 2}]}",
            "collections.a.sources[1].recursive_depth",
        ),
        ("{sources: [{path: /x}, {path: /x}]}", "collections.a.sources[2].path"),
        ("{limits: {file_bytes: 1GiB}}", "collections"),
        ("{sources: [{path: ./data/sources}]}", "collections"),
    ],
)
def test_contradictions_are_told(configuration: Configuration, text: str, key: str) -> None:
    """What cannot be meant together is refused at the key that says it."""
    assert list(faults(configuration, f"collections: {{a: {text}}}")) == [key]


def test_values_nested_without_end_are_refused(configuration: Configuration) -> None:
    """An alias to itself, or aliases that multiply, neither loop nor fill the memory."""
    endless = faults(configuration, "collections: {a: &a {sources: [*a]}}")
    patterns = ", ".join("x" for _ in range(90))
    sources = ", ".join(f"{{path: /{number}, patterns: [{patterns}]}}" for number in range(90))
    many = faults(
        configuration,
        f"collections: {{a: {{sources: &s [{sources}]}}, b: {{sources: *s}}, c: {{sources: *s}}}}",
    )

    assert endless["collections.a.sources[1].sources"] == "there is no such key"
    assert many == {"collections": f"the value holds more than {NODES_MAX} items"}
