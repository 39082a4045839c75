"""Weight must not hide: a god file behind a tidy tree is still a god file.

The limits are far above what is usual here; whoever meets one has two ideas in one place.
"""

import ast

from tests.house.tree import modules, place

MODULE_LINES_MAX = 400
FUNCTION_LINES_MAX = 60


def test_no_module_is_too_long() -> None:
    """A module that needs more lines holds two ideas and becomes two modules."""
    long = {
        place(module.path): lines
        for module in modules()
        if (lines := len(module.text.splitlines())) > MODULE_LINES_MAX
    }

    assert long == {}


def test_no_function_is_too_long() -> None:
    """A function that needs more lines hides steps that deserve names."""
    long = {
        f"{place(module.path, node.lineno)} {node.name}": lines
        for module in modules()
        for node in ast.walk(module.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES_MAX
    }

    assert long == {}
