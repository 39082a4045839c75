"""HTML: what a reader of the page sees, block by block, with headings and the rows of tables.

Scripts, styles, navigation and what is hidden stay out. The tree is built by a C library that follows the
rules browsers follow, so any bytes give some page; it is walked without recursion, because pages nest as deep
as they like.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from penstock.pipeline.parse.cleaning import clean, one_line
from penstock.pipeline.parse.damage import Damaged
from penstock.pipeline.parse.decoding import page_encoding
from penstock.pipeline.parse.manuscript import Manuscript

_UNSEEN = frozenset(
    {
        "head", "script", "style", "noscript", "template", "svg", "math", "nav", "iframe", "object", "embed",
        "canvas", "audio", "video", "map", "select", "datalist", "button", "textarea", "dialog", "rp", "rt",
    }
)  # fmt: skip
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "div",
        "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hgroup", "hr", "html",
        "legend", "main", "menu", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead",
        "ul",
    }
)  # fmt: skip
_LINES = frozenset({"li", "tr"})
_CELLS = frozenset({"td", "th"})
_NO_ROW = frozenset({"table", "pre"})
"""A row that holds one of them, or a heading, lays out a page and is no row of data."""
ROW_CHARS_MAX = 1000
"""A row of more, with blocks in its cells, is none either."""
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDING_STYLE = re.compile(r"(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
_META_CHARSET = re.compile(rb"<meta[^>]{0,300}charset\s*=\s*[\"']?\s*([\w-]{1,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*[\"']\s*([\w.:-]{1,40})")
_XML_WIDE = {"<?".encode(name): name for name in ("utf-16-le", "utf-16-be")}
"""How XML in UTF-16 begins, also without a mark."""
_NESTING = re.compile(
    r"<(/?)(?:div|section|article|aside|blockquote|ul|ol|dl|main|header|footer|form|details|center|figure)\b",
    re.IGNORECASE,
)
_XHTML = re.compile(r"\s*<\?xml\s|.{0,2000}?<html\s[^>]{0,1000}?\bxmlns\s*=", re.IGNORECASE | re.DOTALL)
_EMPTY = re.compile(r"<([A-Za-z][\w:.-]*)((?![\w:.-])(?:[^<>\"'/]|/(?!>)|\"[^\"<]*\"|'[^'<]*')*)/>")
_VOID = frozenset(
    {
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source",
        "track", "wbr",
    }
)  # fmt: skip
META_WITHIN = 4096
DEPTH_MAX = 10_000
"""Deeper pages are no pages, and building their tree takes the square of the depth."""


def charset_in(data: bytes) -> str | None:
    """The encoding a page names itself, if pages may be in it; as XML it does so in its first line.

    UTF-16 is told by that line's bytes alone: a page that can be searched for a name is not in it, whatever
    it says.
    """
    if (wide := _XML_WIDE.get(data[:4])) is not None:
        return wide
    found = _XML_ENCODING.match(data) or _META_CHARSET.search(data, 0, META_WITHIN)
    return page_encoding(found[1].decode("ascii", "replace")) if found else None


def write_html(text: str, manuscript: Manuscript) -> None:
    """Write what can be seen of a page."""
    if _XHTML.match(text):
        text = _EMPTY.sub(_closed, text)
    if _depth(text) > DEPTH_MAX:
        raise Damaged("it is nested too deep")
    try:
        tree = LexborHTMLParser(text)
    except (SelectolaxError, ValueError, RuntimeError) as error:
        raise Damaged(f"no page can be made of it ({error})"[:300]) from error
    root = tree.root
    if root is None:
        raise Damaged("no page can be made of it")
    if manuscript.title is None:
        title = tree.css_first("head > title")
        manuscript.title = one_line(clean(title.text())) if title else None
    _Page(manuscript).walk(root)


def _closed(found: re.Match[str]) -> str:
    """An empty element of XML as a pair of tags: to the parser `<title/>` opens a title without end."""
    name = found[1]
    return found[0] if name.lower() in _VOID else f"<{name}{found[2]}></{name}>"


def _depth(text: str) -> int:
    """How deep blocks lie in each other, told from the tags alone."""
    depth = deepest = 0
    for tag in _NESTING.finditer(text):
        depth += -1 if tag[1] else 1
        depth = max(depth, 0)
        deepest = max(deepest, depth)
    return deepest


class _Page:
    """A walk over the tree that gathers words until a block ends."""

    def __init__(self, manuscript: Manuscript) -> None:
        self._manuscript = manuscript
        self._words: list[str] = []
        self._heading = 0
        """The level of the heading whose words are awaited."""
        self._pre = 0
        self._row: int | None = None
        """Characters met so far in the row that is open, as long as it can be one line."""

    def walk(self, root: LexborNode) -> None:
        """Visit every node once, going down, aside and up."""
        node: LexborNode | None = root
        depth = 0
        while node is not None:
            below = node.child if self._enter(node) else None
            if below is not None:
                node, depth = below, depth + 1
                continue
            while node is not None:
                self._leave(node)
                beside = node.next if depth else None
                if beside is not None:
                    node = beside
                    break
                node, depth = (node.parent, depth - 1) if depth else (None, 0)
        self._flush("\n")

    def _enter(self, node: LexborNode) -> bool:
        """Take in what a node opens; whether what is inside it can be seen."""
        if node.is_text_node:
            self._take(node.text_content or "")
            return False
        if not node.is_element_node:
            return bool(node.is_document_node)
        tag = node.tag or ""
        if tag in _UNSEEN or _is_hidden(node):
            return False
        if tag in _NO_ROW or tag in _HEADINGS:
            self._row = None
        if tag == "br":
            self._words.append("\n")
        elif tag in _BLOCKS:
            self._flush("\n\n" if tag in ("p", "div", "table", "ul", "ol") else "\n")
            self._pre += tag == "pre"
        elif tag in _LINES or tag in _HEADINGS:
            self._flush("\n")
            self._heading = _HEADINGS.get(tag, self._heading)
            if tag == "li":
                self._words.append("- ")
            elif tag == "tr":
                self._row = 0
        return True

    def _take(self, text: str) -> None:
        self._words.append(text)
        if self._row is not None:
            self._row += len(text)
            if self._row > ROW_CHARS_MAX:
                self._row = None

    def _leave(self, node: LexborNode) -> None:
        if not node.is_element_node:
            return
        tag = node.tag or ""
        if tag in _UNSEEN or _is_hidden(node):
            return
        if tag in _HEADINGS:
            self._flush("\n")
            self._heading = 0
        elif tag in _CELLS:
            self._words.append("\t")
        elif tag == "tr":
            self._row = None
            self._flush("\n", row=True)
        elif tag == "li":
            self._flush("\n")
        elif tag in _BLOCKS:
            self._flush("\n\n")
            self._pre -= tag == "pre"

    def _flush(self, end: str, *, row: bool = False) -> None:
        """Write the words gathered so far on lines of their own; a block in a cell stays in its row."""
        if not self._words:
            return
        if self._row is not None:
            self._words.append("\n")
            return
        raw, self._words = "".join(self._words), []
        if self._heading:
            # A block inside it ends a heading: nobody closed it, or its words stand in a block.
            if raw.strip():
                self._manuscript.heading(self._heading, raw)
                self._heading = 0
            return
        if self._pre:
            self._manuscript.block(raw.strip("\n"), end=end)
            return
        if row:
            cells = [one_line(clean(cell)) for cell in raw.split("\t")]
            line = "\t".join(cells).strip("\t")
            if line.strip():
                self._manuscript.cut()
                self._manuscript.write(line + end)
            return
        lines = (one_line(line) for line in clean(raw).split("\n"))
        text = "\n".join(line for line in lines if line and line != "-")
        if text:
            self._manuscript.write(text + end)


def _is_hidden(node: LexborNode) -> bool:
    attributes = node.attributes
    if not attributes:
        return False
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    style = attributes.get("style")
    return bool(style and _HIDING_STYLE.search(style[:2000]))
