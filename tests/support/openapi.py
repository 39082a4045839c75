"""Requests made from the API's own reference: every place where an operation takes a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx

Reference = dict[str, Any]
METHODS = ("get", "head", "post", "put", "patch", "delete", "options", "trace")
JSON, FORM = "application/json", "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for one value: `body.filters.documents[]` stands for each member of a list two levels down."""

    name: str
    required: bool

    @property
    def where(self) -> str:
        return self.name.partition(".")[0]

    @property
    def key(self) -> str:
        return self.name.partition(".")[2]


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    slots: tuple[Slot, ...]
    media: str | None

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    def send(self, client: httpx.Client, values: Mapping[str, object]) -> httpx.Response:
        """Ask with these values in these slots; files are (name, bytes)."""
        return client.send(self.request(client, values))

    def request(self, client: httpx.Client, values: Mapping[str, object]) -> httpx.Request:
        """The same before it is sent."""
        path = self.path
        query: dict[str, str] = {}
        headers: dict[str, str] = {}
        body: dict[str, Any] = {}
        files: list[tuple[str, object]] = []
        for slot in self.slots:
            if slot.name not in values:
                continue
            value = values[slot.name]
            if slot.where == "path":
                path = path.replace("{" + slot.key + "}", str(value))
            elif slot.where == "query":
                query[slot.key] = str(value)
            elif slot.where == "header":
                headers[slot.key] = str(value)
            elif isinstance(value, tuple):
                files.append((slot.key.removesuffix("[]"), value))
            else:
                _put(body, slot.key, value)
        given: dict[str, Any] = {"params": query, "headers": headers}
        if self.media == JSON:
            given["json"] = body
        elif self.media == FORM:
            given |= {"data": body, "files": files}
        return client.build_request(self.method, path.removeprefix("/api"), **given)


def _put(body: dict[str, Any], key: str, value: object) -> None:
    first, _, rest = key.partition(".")
    if rest:
        _put(body.setdefault(first, {}), rest, value)
    elif first.endswith("[]"):
        body[first.removesuffix("[]")] = [value]
    else:
        body[first] = value


def operations(reference: Reference) -> list[Operation]:
    """Everything the reference offers."""
    return [
        _operation(reference, method, path, offered[method])
        for path, offered in reference["paths"].items()
        for method in METHODS
        if method in offered
    ]


def _operation(reference: Reference, method: str, path: str, offered: Reference) -> Operation:
    slots = [
        Slot(f"{each['in']}.{each['name']}", bool(each.get("required")))
        for each in offered.get("parameters", ())
    ]
    media: str | None = None
    for kind, content in offered.get("requestBody", {}).get("content", {}).items():
        media = kind
        slots += _slots(reference, content["schema"], "body", required=True)
    return Operation(method.upper(), path, tuple(slots), media)


def _slots(reference: Reference, schema: Reference, name: str, *, required: bool) -> Iterator[Slot]:
    """The places of a schema; what may also be null counts as what it is otherwise."""
    if "$ref" in schema:
        schema = reference["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    choices = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(choices) == 1:
        yield from _slots(reference, choices[0], name, required=required)
    elif "properties" in schema:
        needed = schema.get("required", ())
        for key, inner in schema["properties"].items():
            yield from _slots(reference, inner, f"{name}.{key}", required=required and key in needed)
    elif schema.get("type") == "array":
        yield from _slots(reference, schema["items"], f"{name}[]", required=required)
    else:
        yield Slot(name, required)
