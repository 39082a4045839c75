"""From the bytes of a file to its text: what it is, how it is read, one module per format.

Everything here is a plain function of an open file; it runs in a child process that may die of the file.
"""

PARSER = "5"
"""Changes whenever the same bytes would give another text: kept parses are remembered by it."""
