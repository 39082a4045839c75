"""Metadata another program stored: whatever it is, reading it costs nobody more than its own words."""

import pytest

from penstock.model.options import Options, options_of
from penstock.model.provenance import provenance_of
from penstock.model.spans import trace_of

DEEP = '{"trace_id": ' + "[" * 5000 + "]" * 5000 + "}"


@pytest.mark.parametrize("metadata", [DEEP, '{"trace_id"', '["trace_id"]', '"trace_id"', ""])
def test_what_cannot_be_read_counts_as_nothing(metadata: str) -> None:
    """Not JSON, no object, or nested so deep that reading it gives up."""
    assert options_of(metadata) == Options()
    assert provenance_of(metadata) == provenance_of("{}")
    assert trace_of(metadata) is None
