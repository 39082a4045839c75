"""The tests, importable as one package so that `tests.support` means the same everywhere."""
