"""The client has values of its own, and they are what the API says it tells, field by field."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from penstock.client import values
from penstock.doors.http.app import described

SCHEMAS = described()["components"]["schemas"]
PAIRS: dict[Any, str] = {
    values.Me: "Me",
    values.WorkspacePage: "WorkspacePage",
    values.CollectionPage: "CollectionPage",
    values.DocumentPage: "DocumentPage",
    values.DocumentDetail: "DocumentDetail",
    values.AcceptedPage: "AcceptedPage",
    values.Job: "JobSaid",
    values.Found: "Found",
    values.Answer: "Answered",
    values.ConversationPage: "ConversationPage",
    values.MessagePage: "MessagePage",
    values.Posted: "PostedSaid",
}
"""The values requests are answered with; what stands inside of them is compared with them."""


@pytest.mark.parametrize("value", PAIRS, ids=lambda value: str(value.__name__))
def test_a_value_has_the_fields_and_types_the_api_tells(value: type[Any]) -> None:
    """Neither left out nor made up, at any depth."""
    (own,), inside = msgspec.json.schema_components([value], ref_template="#/components/schemas/{name}")

    assert shape_of(own, inside) == shape_of(SCHEMAS[PAIRS[value]], SCHEMAS)


def shape_of(schema: Mapping[str, Any], known: Mapping[str, Any]) -> object:
    """What a schema says of JSON, without names of shapes, words for people and bounds."""
    if "$ref" in schema:
        return shape_of(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        return sorted((shape_of(each, known) for each in schema["anyOf"]), key=repr)
    match schema.get("type"):
        case "array":
            return ["array", shape_of(schema["items"], known)]
        case "object" if "properties" in schema:
            assert set(schema.get("required", ())) == set(schema["properties"])
            return {name: shape_of(each, known) for name, each in schema["properties"].items()}
        case "object":
            inner = schema.get("additionalProperties", True)
            return ["object", shape_of(inner, known) if isinstance(inner, Mapping) else "anything"]
        case None:
            return "anything"
        case kind:
            return kind
