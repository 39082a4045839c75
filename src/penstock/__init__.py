"""Penstock brings documents to answers and loses nothing between."""


def __getattr__(name: str) -> str:
    """The version is looked up when asked for: importing the machinery for it costs every start 40 ms."""
    if name == "__version__":
        from importlib.metadata import version

        return version("penstock")
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")
