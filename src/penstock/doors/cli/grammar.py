"""How commands are written: `penstock noun verb`, options of every command before or after the verb.

Help has one order everywhere: a sentence, examples, options with the variable behind them. A verb also names
the shape of its `--json` document, so that the reference page can describe it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, cast

import click

from penstock.doors.cli.given import CONFIG, SERVER, TOKEN, TOKEN_FILE, WORKSPACE, Given

PAGE_MAX = 1000
"""Things on a page of any listing."""


class Option(click.Option):
    """An option that tells which environment variable says the same."""

    def __init__(self, *args: Any, variable: str | None = None, **named: Any) -> None:
        super().__init__(*args, **named)
        self.variable = variable

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        record = super().get_help_record(ctx)
        if record is None or self.variable is None:
            return record
        return record[0], f"{record[1]}  [env: {self.variable}]"


def _keep(ctx: click.Context, param: click.Parameter, value: object) -> None:
    if value is not None and value is not False:
        setattr(ctx.ensure_object(Given), str(param.name), value)


def _everywhere(declared: Sequence[str], **named: Any) -> Option:
    # Environment and defaults are the settings' affair: here only what was typed counts.
    return Option(declared, expose_value=False, callback=_keep, **named)


EVERYWHERE: tuple[Option, ...] = (
    _everywhere(["--data"], metavar="DIR", variable="PENSTOCK_DATA", help="Folder that holds the queue."),
    _everywhere(["--config"], metavar="PATH", variable=CONFIG, help="YAML file with the configuration."),
    _everywhere(["--json", "as_json"], is_flag=True, help="Print JSON."),
    _everywhere(
        ["--log-level"],
        metavar="LEVEL",
        variable="PENSTOCK_OBSERVABILITY_LOG_LEVEL",
        help="Least level logged: debug, info, warning or error.",
    ),
    _everywhere(
        ["--server"], metavar="URL", variable=SERVER, help="Server that does it, in place of --data."
    ),
    _everywhere(
        ["--token"], metavar="TOKEN", variable=TOKEN, help="Who asks the server; others may see it in ps."
    ),
    _everywhere(["--token-file"], metavar="PATH", variable=TOKEN_FILE, help="File that holds the token."),
    _everywhere(["--workspace"], metavar="ID", variable=WORKSPACE, help="Workspace on the server."),
)


class _Spoken(click.Command):
    """The order of a help page, shared by nouns and verbs."""

    examples: Sequence[str] = ()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *mine, asking = super().get_params(ctx)
        return [*mine, *EVERYWHERE, asking]

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write(f"{'':>{formatter.current_indent}}{example}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        general = {id(option) for option in EVERYWHERE}
        own = [param for param in self.get_params(ctx) if id(param) not in general]
        for title, params in (("Options", own), ("Options of every command", EVERYWHERE)):
            records = [record for param in params if (record := _record(param, ctx))]
            with formatter.section(title):
                formatter.write_dl(records)


def _record(param: click.Parameter, ctx: click.Context) -> tuple[str, str] | None:
    return None if isinstance(param, click.Argument) else param.get_help_record(ctx)


class ReaderGone(Exception):
    """Whoever read stdout has gone; click would end with 1 at a broken pipe before we could say otherwise."""


class Verb(_Spoken):
    """A command that does something."""

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        notes: Sequence[str] = (),
        shape: type[Any] | None = None,
        **named: Any,
    ) -> None:
        super().__init__(*args, **named)
        self.examples = examples
        self.notes = notes
        """Sentences for the reference page, where there is room."""
        self.shape = shape
        """The document it prints with --json; None where it prints none."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            way = _way_elsewhere(ctx)
            return super().invoke(ctx) if way is None else ctx.invoke(way, **ctx.params)
        except BrokenPipeError as error:
            raise ReaderGone from error


def _way_elsewhere(ctx: click.Context) -> Callable[..., Any] | None:
    """How the server that was named does it; None where there is none, or where it is the same anywhere."""
    if ctx.ensure_object(Given).elsewhere() is None:
        return None
    from penstock.doors.cli.remote import way_of

    return way_of(ctx.command_path)


class NounAlone(click.UsageError):
    """A noun without a verb; its help says which there are."""

    def __init__(self, ctx: click.Context) -> None:
        super().__init__(f"{ctx.command_path} needs a command", ctx)
        self.help = ctx.get_help()


class Noun(_Spoken, click.Group):
    """A group of commands.

    `members` names those that are loaded when they are asked for, by module and name; `sentences` repeats
    what they say of themselves, so that the help of the group need load none of them.
    """

    def __init__(
        self,
        *args: Any,
        examples: Sequence[str] = (),
        members: Mapping[str, tuple[str, str]] | None = None,
        sentences: Mapping[str, str] | None = None,
        **named: Any,
    ) -> None:
        super().__init__(*args, **named)
        self.no_args_is_help = False
        self.examples = examples
        self.members = members or {}
        self.sentences = sentences or {}

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args:
            raise NounAlone(ctx)
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.members, *self.commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.members:
            return self.commands.get(cmd_name)
        module, name = self.members[cmd_name]
        return cast(click.Command, getattr(import_module(module), name))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        if not self.sentences:
            super().format_commands(ctx, formatter)
            return
        room = formatter.width - 6 - max(map(len, self.sentences))
        with formatter.section("Commands"):
            formatter.write_dl(
                [
                    (name, click.Command(name, help=sentence).get_short_help_str(room))
                    for name, sentence in self.sentences.items()
                ]
            )

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.format_commands(ctx, formatter)
        _Spoken.format_options(self, ctx, formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if not name.startswith("-") and name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
            ctx.fail(f"{ctx.command_path} has no command {name!r}{hint}")
        return super().resolve_command(ctx, args)


def verb(
    name: str,
    *,
    examples: Sequence[str],
    notes: Sequence[str] = (),
    shape: type[Any] | None = None,
    **named: Any,
) -> Callable[[Callable[..., Any]], Verb]:
    """Make a function a command; its docstring is the sentence of its help."""
    return click.command(name, cls=Verb, examples=examples, notes=notes, shape=shape, **named)


def page_limit(things: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a listing the length of its page."""
    return click.option(
        "--limit",
        type=click.IntRange(1, PAGE_MAX),
        default=50,
        show_default=True,
        metavar="N",
        help=f"{things} on a page.",
    )


def dry_run(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a change its rehearsal."""
    return click.option("--dry-run", is_flag=True, help="Say what would happen and change nothing.")(function)
