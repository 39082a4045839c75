"""The header `Prefer` (RFC 7240), whose lines are one list, and whose preferences may have parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

from fastapi import Depends, Header

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"?')


def preferences_of(lines: Iterable[str]) -> frozenset[str]:
    """The names of what is preferred, in small letters; values and parameters are left out.

    `respond-async=""` is the same as `respond-async`; with another value it is no preference we know.
    """
    listed = _QUOTED.sub(_unquoted, ",".join(lines)).split(",")
    return frozenset(_name(each) for each in listed)


def _unquoted(found: re.Match[str]) -> str:
    """Nothing for nothing; whatever else was quoted holds no commas that part the list."""
    return "" if found[0] == '""' else "?"


def _name(preference: str) -> str:
    name, _, value = preference.partition(";")[0].partition("=")
    return name.strip().lower() if not value.strip() else preference.strip().lower()


async def _is_async(
    prefer: Annotated[
        list[str] | None,
        Header(alias="Prefer", description="`respond-async` has the question answered with 202 at once."),
    ] = None,
) -> bool:
    return "respond-async" in preferences_of(prefer or ())


RespondAsync = Annotated[bool, Depends(_is_async)]
"""Whether the client would rather be answered at once and look later."""
