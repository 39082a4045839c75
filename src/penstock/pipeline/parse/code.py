"""Source code: kept as written, with a cut where each definition starts.

Definitions are found by how their first line looks, language by language. A grammar for each language would
find more, but grammars come as large downloads and can be made to hang; a line that looks like a definition
costs nothing and can at worst cut in a place that is not the best.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from penstock.pipeline.parse.cleaning import clean
from penstock.pipeline.parse.manuscript import Manuscript

LINE_LOOK = 300
"""How much of a line is looked at."""
LEAD_MAX = 30
"""Lines of comments and decorators that belong to the definition below them."""
_LEAD = re.compile(r"\s*(?:@|#|//|/\*|\*|--|;;|'''|\"\"\"|\[\w)")
_BRACED = (
    r"(?:(?:export|default|public|private|protected|internal|static|final|abstract|sealed|open|override|async"
    r"|virtual|partial|data|case|inline|extern|unsafe|const|pub(?:\([^)]{0,40}\))?)\s+){0,6}"
)
_LOOKS: Mapping[str, str] = {
    "python": r"\s{0,12}(?:async\s+def|def|class)\s",
    "ruby": r"\s{0,8}(?:def|class|module)\s",
    "elixir": r"\s{0,8}(?:defmodule|defp?|defmacro)\s",
    "go": r"(?:func|type|var|const)\b",
    "rust": rf"\s{{0,8}}{_BRACED}(?:fn|struct|enum|trait|impl|mod|union|macro_rules!)\b",
    "zig": r"\s{0,4}(?:pub\s+)?(?:fn|const)\b",
    "swift": rf"\s{{0,8}}{_BRACED}(?:func|class|struct|enum|protocol|extension|init)\b",
    "kotlin": rf"\s{{0,8}}{_BRACED}(?:fun|class|interface|object)\b",
    "scala": rf"\s{{0,8}}{_BRACED}(?:def|class|trait|object)\b",
    "lua": r"\s{0,8}(?:local\s+)?function\b",
    "julia": r"\s{0,4}(?:function|struct|mutable\s+struct|module|macro)\b",
    "r": r"[\w.]{1,80}\s{0,8}(?:<-|=)\s{0,8}function\b",
    "haskell": r"(?:[\w']{1,80}\s{0,8}::|data\s|newtype\s|class\s|instance\s|module\s)",
    "ocaml": r"(?:let|type|module|class)\s",
    "fsharp": r"\s{0,4}(?:let|type|module|member)\s",
    "clojure": r"\(\s{0,2}(?:def\w{0,12}|ns)\s",
    "elisp": r"\(\s{0,2}def\w{0,12}\s",
    "erlang": r"[a-z]\w{0,80}\(",
    "perl": r"\s{0,4}(?:sub|package)\s",
    "shell": r"\s{0,4}(?:function\s+[\w-]{1,80}|[\w-]{1,80}\s{0,4}\(\))",
    "powershell": r"\s{0,4}(?:function|class|filter)\s",
    "sql": r"\s{0,4}(?i:create|alter|insert|select|with|update|delete|drop|grant|merge)\b",
    "css": r"[^\s}@/*][^{;]{0,250}\{|@\w",
    "yaml": r"[\w\"'./-]{1,100}:|---",
    "toml": r"\[",
    "ini": r"\[",
    "xml": r"\s{0,4}<[A-Za-z]",
    "protobuf": r"\s{0,4}(?:message|service|enum|rpc|extend)\s",
    "graphql": r"(?:type|input|enum|interface|union|scalar|query|mutation|extend|directive)\b",
    "terraform": r"\w{1,40}\s[^{]{0,200}\{",
    "make": r"[\w.%/$()-]{1,120}\s{0,4}:",
    "dockerfile": r"(?i:from|run|copy|add|env|entrypoint|cmd|workdir)\s",
    "cmake": r"\w{1,60}\s{0,4}\(",
    "visual-basic": r"\s{0,8}(?:(?:Public|Private|Friend|Shared)\s+){0,3}(?:Sub|Function|Class|Module)\s",
    "fortran": r"\s{0,8}(?i:subroutine|function|module|program|type)\b",
    "assembly": r"[\w.$]{1,80}:",
    "nim": r"\s{0,4}(?:proc|func|type|template|macro|iterator|method)\s",
}
_SCRIPT = (
    rf"\s{{0,8}}{_BRACED}(?:function|class|interface|enum|type|namespace)\b"
    r"|\s{0,4}(?:export\s+)?(?:const|let|var)\s+\w{1,80}\s{0,4}=\s{0,4}(?:async\s{0,4})?(?:\(|function\b|\w{1,80}\s{0,4}=>)"
)
_CLASSES = (
    rf"\s{{0,8}}{_BRACED}(?:class|interface|enum|record|struct|namespace|trait|function|@interface)\b"
    r"|\s{2,8}(?:(?:public|private|protected|internal|static|final|abstract|override|async)\s+){1,5}[^;={]{1,200}\("
)
_C = (
    r"(?:template\s{0,4}<|namespace\s|class\s|struct\s|enum\s|union\s|typedef\s|extern\s|#define\s)"
    r"|[A-Za-z_][\w:<>,~*&\s]{0,200}\([^;]{0,200}$|[-+]\s{0,4}\("
)
_FAMILIES: Mapping[str, str] = {
    **dict.fromkeys(("javascript", "typescript", "vue", "svelte", "dart"), _SCRIPT),
    **dict.fromkeys(("java", "csharp", "php", "groovy"), _CLASSES),
    **dict.fromkeys(("c", "cpp", "objective-c"), _C),
}


def write_code(text: str, language: str | None, manuscript: Manuscript) -> None:
    """Write source code and mark its definitions."""
    text = clean(text).strip("\n")
    for start in _definitions(text, language):
        manuscript.cut(start)
    manuscript.write(text)


def _definitions(text: str, language: str | None) -> Iterator[int]:
    look = _LOOKS.get(language or "") or _FAMILIES.get(language or "")
    if look is None:
        return
    pattern = re.compile(look)
    lead: int | None = None
    lead_lines = 0
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at : min(end, at + LINE_LOOK)]
        if pattern.match(line):
            yield at if lead is None else lead
            lead, lead_lines = None, 0
        elif _LEAD.match(line) and lead_lines < LEAD_MAX:
            lead, lead_lines = (at if lead is None else lead), lead_lines + 1
        else:
            lead, lead_lines = None, 0
        at = end + 1
