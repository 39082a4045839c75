"""Names a collection may have, and what it may take less of."""

import pytest

from penstock.model.collections import CollectionLimits, check_collection_name
from penstock.model.errors import Refused


@pytest.mark.parametrize("name", ["a", "Handbook_2026", "HIGH", "_", "x" * 100])
def test_good_names(name: str) -> None:
    """Letters, digits and underscores are a name."""
    check_collection_name(name)


@pytest.mark.parametrize("name", ["", "a-b", "a b", "ä", "a/b", "x" * 101, "high", "normal", "low", "a\n"])
def test_bad_names(name: str) -> None:
    """Anything else, and the names of the priorities, are refused with their code."""
    with pytest.raises(Refused) as refused:
        check_collection_name(name)

    assert refused.value.code == "ERR_COLLECTION_INVALID"


def test_a_limit_only_narrows() -> None:
    """A collection without limits takes what the program takes, one with limits never more."""
    assert CollectionLimits().bytes_within(100) == 100
    assert CollectionLimits(file_bytes=10).bytes_within(100) == 10
    assert CollectionLimits(file_bytes=1000).bytes_within(100) == 100
    CollectionLimits().check_pages(10**6)
    CollectionLimits(pages=3).check_pages(3)
    with pytest.raises(Refused) as refused:
        CollectionLimits(pages=3).check_pages(4)
    assert refused.value.code == "ERR_PARSE_PAGES"
