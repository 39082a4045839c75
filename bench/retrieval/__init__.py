"""How well, and how fast, the real store and the bundled model find what was asked for."""
