"""How what is taken in is to be treated: the same words in a form and beside a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field, ValidationError

from penstock.doors.http.shapes import Asked
from penstock.model.errors import Refused
from penstock.model.jobs import PRIORITY_MAX, PRIORITY_NAMES


class Treatment(Asked):
    """How urgently, how strictly, and what becomes of what is there already."""

    priority: int | None = Field(
        default=None,
        ge=0,
        le=PRIORITY_MAX,
        description="Higher ones are worked on first; high is 9, normal 5, low 1. Normal unless given, and at"
        " most `http.priority_max` where tokens are asked for.",
    )
    skip_validation: bool = Field(default=False, description="Take of damaged files what can still be read.")
    preserve_metadata: bool = Field(
        default=True, description="Metadata a document has already stays, under what is given now."
    )
    reindex: bool = Field(
        default=False,
        description="Build the whole collection anew as well, beside what answers; one that is being built"
        " is joined. A `recreation_policy` in the server's configuration may be to leave what is there.",
    )

    def rank(self, most: int) -> int:
        """The priority, at most this one; Refused where a higher one was asked for."""
        if self.priority is None:
            return min(PRIORITY_NAMES["normal"], most)
        if self.priority > most:
            raise Refused(
                f"priority {self.priority} is more than {most}, which is http.priority_max of this server",
                code="ERR_PRIORITY_INVALID",
            )
        return self.priority

    @property
    def mark(self) -> str:
        """What of it is not usual, by which the same request is known again."""
        given = {name: getattr(self, name) for name in FIELDS}
        return "" if given == _USUAL else repr(sorted(given.items()))


FIELDS = tuple(Treatment.model_fields)
_USUAL = {name: field.default for name, field in Treatment.model_fields.items()}


def treatment_of(fields: Mapping[str, str]) -> Treatment:
    """As a form says it; Refused where a field says something else than it may."""
    try:
        return Treatment.model_validate(fields)
    except ValidationError as error:
        first = error.errors()[0]
        told = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        raise Refused(told, code="ERR_REQUEST_INVALID") from None


def form_schema() -> dict[str, Any]:
    """The same fields as the description of a form has them."""
    properties: dict[str, Any] = Treatment.model_json_schema()["properties"]
    return {
        name: {key: value for key, value in told.items() if key != "title"}
        for name, told in properties.items()
    }
