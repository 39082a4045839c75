"""How documents that are handed in are to be treated."""

from __future__ import annotations

from msgspec import Struct


class Wishes(Struct, frozen=True, kw_only=True):
    """What is wanted otherwise than usual; `priority` is 0 to 10, None what the server takes for normal."""

    priority: int | None = None
    skip_validation: bool = False
    preserve_metadata: bool = True
    reindex: bool = False

    def facts(self, *, again: bool = False) -> dict[str, object]:
        """As the server takes them, so that one who knows none of them is told none.

        `again` is for what follows in the same call: a collection is built anew once.
        """
        usual = {"priority": None, "skip_validation": False, "preserve_metadata": True, "reindex": False}
        given = {name: getattr(self, name) for name in usual}
        if again:
            given["reindex"] = False
        return {name: value for name, value in given.items() if value != usual[name]}


USUAL = Wishes()
