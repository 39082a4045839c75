"""The command line: `penstock noun verb`."""

from penstock.doors.cli.program import main

__all__ = ["main"]
