"""Recipes: checked, kept as text, told apart."""

import pytest

from penstock.model.errors import Refused
from penstock.model.recipes import Recipe


def test_a_recipe_survives_being_kept() -> None:
    """The text a collection keeps gives the same recipe back, and the same key."""
    recipe = Recipe(model="m", chunk_tokens=100, chunk_tokens_min=10, overlap_tokens=20)
    again = Recipe.from_json(recipe.to_json())

    assert again == recipe
    assert again.key == recipe.key


def test_another_recipe_has_another_key() -> None:
    """Whatever changes chunks or vectors changes the key."""
    recipes = [
        Recipe(model="m"),
        Recipe(model="n"),
        Recipe(model="m", chunk_tokens=100),
        Recipe(model="m", overlap_tokens=1),
        Recipe(model="m", chunk_tokens_min=1),
    ]

    assert len({recipe.key for recipe in recipes}) == len(recipes)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "not JSON"),
        ("[]", "names no model"),
        ("{}", "names no model"),
        ('{"model": 7}', "names no model"),
        ('{"model": ""}', "names a model"),
        ('{"model": "m", "chunks": 3}', "no chunks; it has"),
        ('{"model": "m", "chunk_tokens": 15}', "16 to 8192"),
        ('{"model": "m", "chunk_tokens": true}', "whole numbers"),
        ('{"model": "m", "chunk_tokens": 100, "overlap_tokens": 51}', "0 to 50"),
        ('{"model": "m", "chunk_tokens": 100, "chunk_tokens_min": 51}', "0 to 50"),
        ('{"model": "m", "overlap_tokens": -1}', "0 to"),
    ],
)
def test_a_wrong_recipe_says_what_is_wrong(text: str, told: str) -> None:
    """Every fault names the key and what it may be."""
    with pytest.raises(Refused, match=told) as refused:
        Recipe.from_json(text)

    assert refused.value.code == "ERR_CONFIGURATION"
