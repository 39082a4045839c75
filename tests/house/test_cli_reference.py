"""The references of the API, of commands and of error codes say what the program does."""

import pytest

from penstock.doors.cli.api_reference import api_page
from penstock.doors.cli.reference import cli_page, errors_page
from tests.house.tree import TOP

PAGES = {"api": api_page, "cli": cli_page, "errors": errors_page}


@pytest.mark.parametrize("name", PAGES)
def test_reference_is_generated_from_the_program(name: str) -> None:
    """The page equals what the program prints, so it can neither lack a command or code nor invent one."""
    page = TOP / "docs" / "reference" / f"{name}.md"

    command = f"write the page anew: penstock reference {name} > docs/reference/{name}.md"
    assert page.read_text(encoding="utf-8") == PAGES[name](), command
