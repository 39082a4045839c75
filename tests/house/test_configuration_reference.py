"""The configuration reference says what the program does."""

from penstock.settings import reference_page
from tests.house.tree import TOP

PAGE = TOP / "docs" / "reference" / "configuration.md"

COMMAND = """\
write the page anew:
python -c "from penstock.settings import reference_page; print(reference_page(), end='')" \\
    > docs/reference/configuration.md
"""


def test_configuration_reference_is_generated_from_the_tree() -> None:
    """The page equals what the declarations say, so it can neither lack a key nor name a wrong default."""
    assert PAGE.read_text(encoding="utf-8") == reference_page(), COMMAND
