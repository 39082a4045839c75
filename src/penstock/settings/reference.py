"""The reference page, made from the declarations, so that it says what the program does."""

from collections.abc import Iterator
from typing import Any

from penstock.settings.descriptions import Description, describe
from penstock.settings.fields import Branch, marks
from penstock.settings.numbers import EXAMPLES
from penstock.settings.rules import RULES
from penstock.settings.tree import Settings

_OPENING = f"""\
# Configuration

This page is generated from the declarations in `penstock.settings`.

Values come from the YAML file named by `--config`, then the environment, then flags.
A later source overrides an earlier one.
A file that does not exist means defaults.
An unknown key, a key given twice or a value out of bounds stops the program.
All faults of one start are told together.
A key set to `null`, or an empty variable, counts as not given.
A list or a mapping is replaced as a whole.
A duration is written {EXAMPLES}.
In a variable a list is written with commas between its items, and a mapping as a JSON object.
A bare variable works only where the table names one; setting both forms to different values is an error.
Passwords are never shown: not in errors, not in logs, not in the shown configuration.
"""


def reference_page() -> str:
    """The reference page, Markdown, one sentence per line."""
    descriptions = {each.key: each for each in describe()}
    parts = [_OPENING, *_sections(Settings, "", descriptions), _rules()]
    return "\n".join(parts)


def _sections(tree: type[Any], prefix: str, descriptions: dict[str, Description]) -> Iterator[str]:
    rows = [_row(descriptions[prefix + name]) for name, mark in marks(tree) if not isinstance(mark, Branch)]
    title = f"`{prefix.rstrip('.')}`" if prefix else "Engines and folders"
    opening = f"{tree.__doc__}\n\n" if prefix else ""
    head = "| key | type | default | environment | meaning |\n|---|---|---|---|---|\n"
    yield f"## {title}\n\n{opening}{head}{''.join(rows)}"
    for name, mark in marks(tree):
        if isinstance(mark, Branch):
            yield from _sections(mark.section, f"{prefix}{name}.", descriptions)


def _row(each: Description) -> str:
    names = f"`{each.environment}`" + (f" or `{each.bare_environment}`" if each.bare_environment else "")
    default = each.default if each.default == "not set" else f"`{each.default}`"
    return f"| `{each.key}` | {each.type} | {default} | {names} | {each.meaning} |\n"


def _rules() -> str:
    lines = [f"- `{rule.keys[0]}` {rule.must}.\n" for rule in RULES]
    return f"## Rules between keys\n\n{''.join(lines)}"
