"""What a name's ending claims: a hint among formats that are text, and a claim to check for the others."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model.parsed import Media

FORMATS: Mapping[str, Media] = {
    "pdf": Media.PDF,
    "docx": Media.DOCX,
    "docm": Media.DOCX,
    "dotx": Media.DOCX,
    "pptx": Media.PPTX,
    "pptm": Media.PPTX,
    "ppsx": Media.PPTX,
    "xlsx": Media.XLSX,
    "xlsm": Media.XLSX,
    "epub": Media.EPUB,
    "txt": Media.TEXT,
    "text": Media.TEXT,
    "log": Media.TEXT,
    "rst": Media.TEXT,
    "adoc": Media.TEXT,
    "org": Media.TEXT,
    "tex": Media.TEXT,
    "md": Media.MARKDOWN,
    "markdown": Media.MARKDOWN,
    "mdx": Media.MARKDOWN,
    "html": Media.HTML,
    "htm": Media.HTML,
    "xhtml": Media.HTML,
    "csv": Media.CSV,
    "tsv": Media.CSV,
    "json": Media.JSON,
    "jsonl": Media.JSON,
    "ndjson": Media.JSON,
    "geojson": Media.JSON,
    "ipynb": Media.JSON,
}

LANGUAGES: Mapping[str, str] = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "mjs": "javascript",
    "cjs": "javascript",
    "jsx": "javascript",
    "ts": "typescript",
    "tsx": "typescript",
    "vue": "vue",
    "svelte": "svelte",
    "java": "java",
    "kt": "kotlin",
    "kts": "kotlin",
    "scala": "scala",
    "groovy": "groovy",
    "c": "c",
    "h": "c",
    "cc": "cpp",
    "cpp": "cpp",
    "cxx": "cpp",
    "hh": "cpp",
    "hpp": "cpp",
    "cs": "csharp",
    "go": "go",
    "rs": "rust",
    "swift": "swift",
    "m": "objective-c",
    "mm": "objective-c",
    "rb": "ruby",
    "php": "php",
    "pl": "perl",
    "pm": "perl",
    "lua": "lua",
    "r": "r",
    "jl": "julia",
    "dart": "dart",
    "ex": "elixir",
    "exs": "elixir",
    "erl": "erlang",
    "hs": "haskell",
    "ml": "ocaml",
    "fs": "fsharp",
    "clj": "clojure",
    "el": "elisp",
    "sh": "shell",
    "bash": "shell",
    "zsh": "shell",
    "ps1": "powershell",
    "sql": "sql",
    "css": "css",
    "scss": "css",
    "less": "css",
    "yaml": "yaml",
    "yml": "yaml",
    "toml": "toml",
    "ini": "ini",
    "cfg": "ini",
    "conf": "ini",
    "xml": "xml",
    "xsd": "xml",
    "xsl": "xml",
    "proto": "protobuf",
    "graphql": "graphql",
    "tf": "terraform",
    "zig": "zig",
    "nim": "nim",
    "vb": "visual-basic",
    "f90": "fortran",
    "asm": "assembly",
    "s": "assembly",
    "dockerfile": "dockerfile",
    "makefile": "make",
    "mk": "make",
    "cmake": "cmake",
}
"""Source code by its ending; a name without a dot, such as Makefile, counts as its own ending."""

NOT_TEXT = frozenset({Media.PDF, Media.DOCX, Media.PPTX, Media.XLSX, Media.EPUB})
"""Formats whose files are never plain text."""


def ending_of(name: str) -> str:
    """What stands behind the last dot of a file's name, in lower case."""
    last = name.replace("\\", "/").rpartition("/")[2].lower().rstrip(". ")
    return last.rpartition(".")[2]


def claimed(name: str) -> Media | None:
    """The format a name claims; None if it claims none we know."""
    ending = ending_of(name)
    return Media.CODE if ending in LANGUAGES else FORMATS.get(ending)
