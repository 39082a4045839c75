"""Loading a configuration written inside a test."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from penstock.settings import ConfigurationError, Problem, Settings, load


class Configuration:
    """A YAML file, an environment and flags, as one test gives them."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "penstock.yaml"

    def load(
        self,
        text: str | bytes = "",
        environ: Mapping[str, str] | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> Settings:
        self.path.write_bytes(text.encode() if isinstance(text, str) else text)
        return load(self.path, environ or {}, flags or {})

    def refused(
        self,
        text: str | bytes = "",
        environ: Mapping[str, str] | None = None,
        flags: Mapping[str, object] | None = None,
    ) -> tuple[Problem, ...]:
        """The problems of a load that must fail."""
        with pytest.raises(ConfigurationError) as caught:
            self.load(text, environ, flags)
        return caught.value.problems
