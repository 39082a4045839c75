"""`penstock config`: the configuration in force, and every key there is."""

from __future__ import annotations

from dataclasses import asdict
from typing import cast

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Noun, verb
from penstock.doors.cli.shapes import KeyFacts, Keys


@verb(
    "show",
    examples=("penstock config show", "penstock config show --config penstock.yaml --json"),
    notes=("Prints YAML that `--config` can read; with `--json`, the same tree.",),
)
@click.pass_obj
def show(given: Given) -> None:
    """Show the configuration in force, secrets masked."""
    tree = given.settings().as_shown()
    if given.as_json:
        output.document(tree)
        return
    import yaml

    text: str = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True, default_flow_style=False)
    click.echo(text, nl=False)


@verb("reference", examples=("penstock config reference", "penstock config reference --json"), shape=Keys)
@click.pass_obj
def reference(given: Given) -> None:
    """Print every key with its type, default, variable and meaning."""
    from penstock.settings import describe, reference_page

    if given.as_json:
        output.document(Keys(keys=[cast(KeyFacts, asdict(each)) for each in describe()]))
    else:
        click.echo(reference_page(), nl=False)


command = Noun(
    "config",
    help="Look at the configuration.",
    examples=("penstock config show", "penstock config reference"),
    commands=[show, reference],
)
