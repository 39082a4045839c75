"""The environment as a source: `PENSTOCK_WORKER_COUNT`, and `WORKER_COUNT` where the contract documents it.

A prefixed name nobody knows is a mistake and refused; any other name of the environment is none of ours.
Empty variables count as not set.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from penstock.settings.fields import PREFIX, Leaf, leaves
from penstock.settings.given import Given
from penstock.settings.problems import Problem, suggestion

# Read by the command line and by the test suite.
_OTHERS = re.compile(r"PENSTOCK_(?:CONFIG|DEBUG|SERVER|TOKEN|TOKEN_FILE|WORKSPACE|SWEEP|TEST_.*)")
# Kubernetes sets these in every pod beside a service whose name begins with "penstock".
_LINKS = re.compile(
    r"PENSTOCK_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT_[0-9]+_(?:TCP|UDP|SCTP)(?:_\w+)?)"
)
_LINK_VALUE = re.compile(r"(?:tcp|udp|sctp)://.*")


def from_environment(environ: Mapping[str, str], tree: type[Any]) -> Iterator[Given | Problem]:
    """Everything the environment gives, and each prefixed name it should not hold."""
    known = {leaf.variable for leaf in leaves(tree).values()}
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known and not _foreign(name, environ[name]):
            yield _unknown(name, known)
    for leaf in leaves(tree).values():
        yield from _one_key(leaf, environ)


def _foreign(name: str, value: str) -> bool:
    if name.endswith("_PORT") and _LINK_VALUE.fullmatch(value):
        return True
    return bool(_OTHERS.fullmatch(name) or _LINKS.fullmatch(name))


def _unknown(name: str, known: set[str]) -> Problem:
    return Problem(
        key=name.removeprefix(PREFIX).lower(),
        source=f"environment variable {name}",
        wrong="there is no such key",
        right=suggestion(name, sorted(known), "unset it or see the configuration reference"),
    )


def _one_key(leaf: Leaf, environ: Mapping[str, str]) -> Iterator[Given | Problem]:
    names = [name for name in (leaf.variable, leaf.bare) if name and environ.get(name)]
    if len({environ[name] for name in names}) > 1:
        yield Problem(
            key=leaf.key,
            source=f"environment variables {' and '.join(names)}",
            wrong="the two say different things",
            right="unset one of the two",
        )
    elif names:
        yield Given(
            key=leaf.key, source=f"environment variable {names[0]}", raw=environ[names[0]], written=True
        )
