"""The reference of the API, made from its own description."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

OPENING = """\
# API

This page is generated from the routes themselves: `penstock reference api`.
The whole description, with every shape, is served as OpenAPI at `/api/openapi.json`.

[Who may ask](../explanation/who-may-ask.md) and [events](events.md) have pages of their own.
Every error is a problem document (RFC 9457): a `code` of [the list](errors.md), `detail` and `suggestions`.
An id of another user answers exactly like one that never was.
Times are ISO 8601 in UTC.
"""
_METHODS = ("get", "head", "post", "patch", "delete")


def api_page() -> str:
    """Every route, what it takes and how it answers."""
    from penstock.doors.http.app import described
    from penstock.doors.live.routes import live_routes

    nobody: Any = None  # who answers is of no account where nothing is asked
    return "\n".join([OPENING, *_sections(described(live_routes(nobody, nobody)))])


def _sections(api: Mapping[str, Any]) -> Iterator[str]:
    tags: dict[str, list[str]] = {}
    for path, methods in api["paths"].items():
        for method in _METHODS:
            if method in methods:
                route = methods[method]
                tags.setdefault((route.get("tags") or ["others"])[0], []).append(_route(method, path, route))
    for tag, routes in tags.items():
        yield f"## {tag.capitalize()}\n\n" + "\n".join(routes)


def _route(method: str, path: str, route: Mapping[str, Any]) -> str:
    lines = [f"### `{method.upper()} {path}`\n", f"{route.get('description', '').strip()}\n"]
    given = [each for each in route.get("parameters", ()) if each["in"] != "path"]
    if given:
        lines += ["| parameter | in | what |", "|---|---|---|"]
        lines += [f"| `{each['name']}` | {each['in']} | {_words(each)} |" for each in given]
        lines.append("")
    if body := route.get("requestBody"):
        kinds = ", ".join(f"`{kind}`{_shape(content)}" for kind, content in body["content"].items())
        lines.append(f"Body: {kinds}.\n")
    good = [f"{status}{_shape_of(told)}" for status, told in route["responses"].items() if status < "300"]
    lines.append(f"Answers: {', '.join(good)}.\n")
    return "\n".join(lines)


def _words(parameter: Mapping[str, Any]) -> str:
    schema = parameter.get("schema", {})
    words = [parameter.get("description", "")]
    if "default" in schema:
        words.append(f"`{schema['default']}` unless given.")
    return " ".join(each for each in words if each)


def _shape_of(told: Mapping[str, Any]) -> str:
    content = told.get("content", {}).get("application/json", {})
    return _shape(content)


def _shape(content: Mapping[str, Any]) -> str:
    reference = content.get("schema", {}).get("$ref", "")
    return f" `{reference.rpartition('/')[2]}`" if reference else ""
