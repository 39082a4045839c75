"""Error codes people type: one that is not ours is told apart from one that nothing has ended with.

Handlers of a user's own may end jobs with codes of their own: a code that anything has is never refused.
"""

from __future__ import annotations

from difflib import get_close_matches

from penstock.model.codes import CODES
from penstock.model.errors import Refused


def refuse_unknown(code: str | None) -> None:
    """Refused with the nearest there is; for a code that nothing was found with."""
    if (words := unknown(code)) is not None:
        raise Refused(words)


def unknown(code: str | None) -> str | None:
    """That there is no such code, in words; None where there is, or none was named."""
    if code is None or code in CODES:
        return None
    near = get_close_matches(code.upper(), CODES, n=1)
    hint = f"did you mean {near[0]}?" if near else "penstock reference errors lists all there are"
    return f"there is no error code {code[:100]!r}; {hint}"
