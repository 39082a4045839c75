"""The words of the domain: frozen values and pure functions, on the standard library alone."""
