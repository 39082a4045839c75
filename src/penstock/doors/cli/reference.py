"""Reference pages made from the program itself, so that they say what it does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args, get_type_hints

import click
from typing_extensions import is_typeddict

from penstock.doors.cli import exits, output, words
from penstock.doors.cli.api_reference import api_page
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import EVERYWHERE, Noun, Verb, verb
from penstock.doors.cli.remote import WAYS
from penstock.doors.cli.shapes import ErrorFacts, Page
from penstock.model.advice import SUGGESTIONS
from penstock.model.codes import CODES

_CLI_OPENING = """\
# Command line

This page is generated from the commands themselves: `penstock reference cli`.

Data goes to stdout, talk to stderr.
On a terminal there are tables; piped, a line is cells parted by tabs.
With `--json` a command prints one JSON document; with `--watch` as well, one a line.
Every change knows `--dry-run`, which says what would happen and changes nothing.
Ctrl-C leaves what was accepted in the queue.

An error is told on stderr as `error: message (CODE)`, with what to do about it below.
With `--json` it is an object, `{"error": {"code", "message", "suggestions"}}`.
`PENSTOCK_DEBUG=1` shows where it came from.
"""

_ERRORS_OPENING = """\
# Error codes

This page is generated from `penstock.model.errors`: `penstock reference errors`.

A code stays the same over versions; the message beside it is for people and may change.
"""


@verb(
    "reference",
    examples=("penstock reference cli", "penstock reference errors > errors.md"),
    shape=Page,
)
@click.argument("page", type=click.Choice(["api", "cli", "configuration", "errors"]))
@click.pass_obj
def command(given: Given, page: str) -> None:
    """Print a reference page as Markdown."""
    pages: dict[str, Callable[[], str]] = {
        "api": api_page,
        "cli": cli_page,
        "configuration": configuration_page,
        "errors": errors_page,
    }
    text = pages[page]()
    if given.as_json:
        output.document(Page(page=page, text=text))
    else:
        click.echo(text, nl=False)


def configuration_page() -> str:
    """Every key of the configuration."""
    from penstock.settings import reference_page

    return reference_page()


def errors_page() -> str:
    """Every error code, what it means and what to do."""
    rows = [(f"`{code}`", meaning, " ".join(SUGGESTIONS.get(code, ()))) for code, meaning in CODES.items()]
    return f"{_ERRORS_OPENING}\n{_table(('code', 'meaning', 'what to do'), rows)}"


def cli_page() -> str:
    """Every command with its options and the document it prints."""
    from penstock.doors.cli.program import program

    ctx = click.Context(program, info_name="penstock")
    verbs = list(_verbs(program, ctx))
    parts = [
        _CLI_OPENING,
        f"## Options of every command\n\n{_options(EVERYWHERE, ctx)}",
        *(_section(each, inner) for each, inner in verbs),
        f"## Exit codes\n\n{_exit_codes()}",
        f"## States\n\n{_states()}",
        _shapes([each.shape for each, _ in verbs if each.shape is not None]),
    ]
    return "\n".join(parts)


def _verbs(noun: Noun, ctx: click.Context) -> Iterator[tuple[Verb, click.Context]]:
    for name in noun.list_commands(ctx):
        found = noun.get_command(ctx, name)
        inner = click.Context(found, info_name=name, parent=ctx) if found else ctx
        if isinstance(found, Noun):
            yield from _verbs(found, inner)
        elif isinstance(found, Verb) and not found.hidden:
            yield found, inner


def _section(each: Verb, ctx: click.Context) -> str:
    usage = " ".join([ctx.command_path, *each.collect_usage_pieces(ctx)])
    own = [param for param in each.params if isinstance(param, click.Option) and not param.hidden]
    examples = "\n".join(each.examples)
    parts = [
        f"## `{ctx.command_path}`\n",
        f"{each.help}\n",
        f"```sh\n{usage}\n\n# examples\n{examples}\n```\n",
    ]
    if own:
        parts.append(_options(own, ctx))
    if ctx.command_path in WAYS:
        parts.append("A server does it where `--server` names one.\n")
    if each.notes:
        parts.append("".join(f"{note}\n" for note in each.notes))
    if each.shape is not None:
        parts.append(f"With `--json`: [{each.shape.__name__}](#{each.shape.__name__.lower()}).\n")
    return "\n".join(parts)


def _options(options: Any, ctx: click.Context) -> str:
    rows = []
    for option in options:
        spelling, meaning = (part.replace("|", "\\|") for part in option.get_help_record(ctx))
        rows.append((f"`{spelling}`", meaning.replace("  [", " [")))
    return _table(("option", "meaning"), rows)


def _exit_codes() -> str:
    rows = [(str(code.value), meaning) for code, meaning in exits.MEANINGS.items()]
    return _table(("code", "meaning"), rows)


def _states() -> str:
    rows = [(f"`{word}`", meaning) for word, meaning in words.MEANINGS.items()]
    return _table(("state", "meaning"), rows)


def _shapes(shapes: list[type[Any]]) -> str:
    """Every document, and every object inside one, in the order they are met."""
    met: dict[type[Any], None] = {}
    for shape in [*shapes, ErrorFacts]:
        _meet(shape, met)
    return "## Documents\n\n" + "\n".join(_shape(shape) for shape in met)


def _meet(shape: Any, met: dict[type[Any], None]) -> None:
    if is_typeddict(shape) and shape not in met:
        met[shape] = None
        for kind in get_type_hints(shape).values():
            _meet(kind, met)
    for inner in get_args(shape):
        _meet(inner, met)


def _shape(shape: type[Any]) -> str:
    rows = [(f"`{name}`", _kind(kind)) for name, kind in get_type_hints(shape).items()]
    return f"### {shape.__name__}\n\n{shape.__doc__}\n\n{_table(('name', 'type'), rows)}"


def _kind(kind: Any) -> str:
    """A type in the words of JSON."""
    plain = {
        str: "string",
        int: "number",
        float: "number",
        bool: "true or false",
        type(None): "null",
        object: "any value",
    }
    if kind in plain:
        return plain[kind]
    if is_typeddict(kind):
        return f"[{kind.__name__}](#{kind.__name__.lower()})"
    inner = [_kind(each) for each in get_args(kind)]
    if getattr(kind, "__origin__", None) is dict:
        return f"object from names to {inner[1]}"
    return f"list of {inner[0]}" if getattr(kind, "__origin__", None) is list else " or ".join(inner)


def _table(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [headings, ("---",) * len(headings), *rows]
    return (
        "".join(f"| {' | '.join(line)} |\n" for line in lines)
        .replace("| --- ", "|---")
        .replace("|--- |", "|---|")
    )
