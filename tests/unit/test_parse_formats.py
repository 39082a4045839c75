"""Each format: text in reading order, pages and headings where they are, cuts where they help."""

from __future__ import annotations

import time

import pytest

from penstock.model.parsed import Parsed
from tests.support.files.packages import (
    docx,
    docx_parts,
    epub_parts,
    packed,
    paragraph,
    pptx_parts,
    relations,
    table,
    xlsx_parts,
)
from tests.support.files.pdf import encrypted_pdf, simple_pdf, with_unreadable_page
from tests.support.parsing import code_of, read_bytes


def pages_of(parsed: Parsed) -> list[str]:
    return [parsed.text[page.start : page.end].strip() for page in parsed.pages]


def headings_of(parsed: Parsed) -> list[tuple[int, str]]:
    """Levels and titles, each checked to stand where it says."""
    for heading in parsed.headings:
        line = parsed.text[heading.start :].split("\n", 1)[0]
        assert heading.title.split()[0] in line
    return [(heading.level, heading.title) for heading in parsed.headings]


def cut_lines(parsed: Parsed) -> list[str]:
    return [parsed.text[cut:].split("\n", 1)[0] for cut in parsed.cuts]


def test_pdf_pages_and_bookmarks() -> None:
    """Pages are those of the file, bookmarks are its headings, and a page without text is told."""
    data = simple_pdf([["Hello world."], [], ["Third page."]], bookmarks=[("Hello", 0), ("Third", 2)])

    parsed = read_bytes(data, "a.pdf")

    assert pages_of(parsed) == ["Hello world.", "", "Third page."]
    assert headings_of(parsed) == [(1, "Hello"), (1, "Third")]
    assert parsed.notes == ("Page 2 holds no text.",)


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (encrypted_pdf(), "ERR_ENCRYPTED"),
        (simple_pdf([["Words."]] * 3)[:700], "ERR_PDF_INVALID"),
        (simple_pdf([[], []]), "ERR_NO_TEXT"),
        (with_unreadable_page(), "ERR_PDF_PAGES_UNREADABLE"),
    ],
)
def test_pdf_that_cannot_be_read(data: bytes, code: str) -> None:
    """Locked, cut short, only pictures, a page gone: each its own code."""
    assert code_of(data, "a.pdf") == code


def test_pdf_taken_for_what_is_left() -> None:
    """By force the readable pages are taken, and the lost one is told."""
    parsed = read_bytes(with_unreadable_page(), "a.pdf", lenient=True)

    assert pages_of(parsed) == ["Page 1.", "", "Page 3."]
    assert any("Page 2 cannot be read" in note for note in parsed.notes)


def test_pdf_cut_short_and_taken_for_what_is_left() -> None:
    """A file without its tables still shows its pages to the second reader."""
    parsed = read_bytes(simple_pdf([["Words."]] * 3)[:700], "a.pdf", lenient=True)

    assert "Words." in parsed.text
    assert any("damaged" in note for note in parsed.notes)


def test_a_bookmark_stands_at_the_line_of_its_title() -> None:
    """Not at the same words in a sentence above it; a title may be numbered and run over two lines."""
    page = ["The results and the long way to", "them are told below.", "2. Results", "They are good."]
    page += ["The long way", "to them", "It was long."]
    marks = [("Results", 0), ("the long way to them", 0), ("Nowhere", 0)]

    parsed = read_bytes(simple_pdf([page], bookmarks=marks), "a.pdf")

    lines = [(one.title, parsed.text[one.start :].split("\n")[0]) for one in parsed.headings]
    assert lines == [
        ("Nowhere", "The results and the long way to"),
        ("Results", "2. Results"),
        ("the long way to them", "The long way"),
    ]


@pytest.mark.parametrize("title", [b"<FEFFD80000480069>", b"<FEFF00480069DC00>"])
def test_half_a_character_in_a_title_costs_no_more_than_itself(title: bytes) -> None:
    """The file's title and its bookmarks may hold broken UTF-16; its pages are read all the same."""
    data = simple_pdf([["Hello world."]], bookmarks=[(title, 0)], title=title)

    parsed = read_bytes(data, "a.pdf")

    assert pages_of(parsed) == ["Hello world."]
    assert parsed.title is not None
    assert parsed.title.strip("\ufffd") == "Hi"
    assert [heading.title for heading in parsed.headings] == [parsed.title]


def test_plain_text_with_form_feeds_has_pages() -> None:
    """Reports of old part their pages with form feeds."""
    parsed = read_bytes(b"first\n\fsecond\n\f\n", "rfc.txt")

    assert pages_of(parsed) == ["first", "second"]


def test_markdown_headings() -> None:
    """Hashes and underlines make headings; fences, comments and front matter hide them."""
    text = (
        "---\nsubtitle: no\ntitle: 'The Title'\n---\n"
        "# One *strong* [link](x)\n\ntext\n\n```\n# no\n```\n<!--\n# no\n-->\n"
        "Two\nlines\n=====\n\n### Three ###\n\nFour\n----\n\n- item\n---\n\n    # code\n"
    )

    parsed = read_bytes(text.encode(), "a.md")

    assert headings_of(parsed) == [(1, "One strong link"), (1, "Two lines"), (3, "Three"), (2, "Four")]
    assert parsed.title == "The Title"
    assert "```\n# no\n```" in parsed.text


@pytest.mark.parametrize("line", ["```inline```", "``` a`b", "   ````x```` and more"])
def test_code_in_a_line_opens_no_fence(line: str) -> None:
    """Backticks behind backticks make no fence, so the headings that follow are headings."""
    parsed = read_bytes(
        f"# One\n\n{line}\n\n# Two\n\n```py\n# no\n```\n\n~~~ a`b\n# no\n~~~\n".encode(), "a.md"
    )

    assert headings_of(parsed) == [(1, "One"), (1, "Two")]


def test_markdown_headings_of_marks_take_no_time() -> None:
    """Marks that pair with nothing are looked at in proportion to the text."""
    start = time.process_time()

    parsed = read_bytes((b"# " + b"`" * 1900 + b"a\n") * 300, "a.md")

    assert len(parsed.headings) == 300
    assert time.process_time() - start < 3.0


def test_word_document() -> None:
    """Headings by their styles, also inherited ones; tables row by row; notes at the end."""
    footnote = '<w:footnotes xmlns:w="{}"><w:footnote>{}</w:footnote></w:footnotes>'.format(
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main", paragraph("A footnote.")
    )
    body = (
        paragraph("Start", style="Heading1")
        + paragraph("Some words.")
        + "<w:p><w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:t>ke</w:t></w:r>"
        + "<w:r><w:t>pt</w:t></w:r></w:p>"
        + paragraph("Kapitel", style="Kapitel")
        + table([["a", "b"], ["c", "d"]])
        + paragraph("Deep", style="Deep")
    )

    parsed = read_bytes(packed(docx_parts(body, more={"word/footnotes.xml": footnote})), "a.docx")

    assert parsed.text == "Start\n\nSome words.\n\nkept\n\nKapitel\n\na\tb\nc\td\n\nDeep\n\nA footnote.\n\n"
    assert headings_of(parsed) == [(1, "Start"), (1, "Kapitel"), (3, "Deep")]
    assert cut_lines(parsed) == ["a\tb", "c\td"]
    assert parsed.title == "Start"
    assert parsed.pages == ()


def test_word_text_box_and_its_paragraph_keep_their_own_styles() -> None:
    """A box with a heading makes no heading of the paragraph it hangs in, and takes none away."""

    def with_box(style: str, box: str, words: str) -> str:
        inside = f"<w:r><w:pict><w:txbxContent>{box}</w:txbxContent></w:pict></w:r>"
        return paragraph(words, style=style).replace("<w:r>", f"{inside}<w:r>", 1)

    body = with_box("Body", paragraph("Boxed", style="Heading1"), "Plain words.")
    body += with_box("Heading1", paragraph("A box."), "Chapter")

    parsed = read_bytes(docx(body), "a.docx")

    assert parsed.text == "Boxed\n\nPlain words.\n\nA box.\n\nChapter\n\n"
    assert headings_of(parsed) == [(1, "Boxed"), (1, "Chapter")]


def test_word_style_before_a_tracked_change_is_not_the_style() -> None:
    """A paragraph that once was a heading is none; a level that is no number of the outline is none."""
    was = '<w:pPr><w:pPrChange><w:pPr><w:pStyle w:val="Heading1"/></w:pPr></w:pPrChange></w:pPr>'
    odd = f'<w:pPr><w:outlineLvl w:val="000{"9" * 5000}"/></w:pPr>'
    body = "".join(f"<w:p>{each}<w:r><w:t>Words.</w:t></w:r></w:p>" for each in (was, odd))

    parsed = read_bytes(docx(body), "a.docx")

    assert parsed.headings == ()
    assert parsed.text == "Words.\n\nWords.\n\n"


def test_word_tab_stops_are_no_tabs() -> None:
    """Where tabs lead to is not text; the tabs themselves are."""
    stops = (
        '<w:pPr><w:tabs><w:tab w:val="left" w:pos="720"/><w:tab w:val="right" w:pos="9000"/></w:tabs></w:pPr>'
    )
    body = f"<w:p>{stops}<w:r><w:t>One</w:t><w:tab/><w:t>two.</w:t></w:r></w:p>"

    assert read_bytes(docx(body), "a.docx").text == "One\ttwo.\n\n"


def test_presentation() -> None:
    """Slides in the order of the show, titles as headings, notes with their slide, no slide numbers."""
    slides = [("First", ["one", "two"]), ("", []), ("Third", ["x"])]

    parsed = read_bytes(packed(pptx_parts(slides, notes="Remember this.")), "a.pptx")

    assert pages_of(parsed) == ["First\n\none\ntwo\nRemember this.", "", "Third\n\nx"]
    assert headings_of(parsed) == [(1, "First"), (1, "Third")]
    assert parsed.notes == ("Slides without text: 2.",)


def test_marks_that_close_a_heading_are_no_words_and_others_are() -> None:
    """`# C#` is about C#; `## Two ##` is about two, and marks alone are about nothing."""
    text = "# C#\n\na\n\n## Two ##\n\nb\n\n### F# and #1 #\n\nc\n\n## ##\n\nd\n"

    parsed = read_bytes(text.encode(), "a.md")

    assert headings_of(parsed) == [(1, "C#"), (2, "Two"), (3, "F# and #1")]
    assert parsed.title == "C#"


def test_spreadsheet() -> None:
    """Sheets are pages, rows are lines, dates are dates, gaps are kept."""
    rows = (
        '<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>in line</t></is></c></row>'
        '<row><c r="A2" s="1"><v>45292</v></c><c r="B2" s="2"><v>1.5</v></c>'
        '<c r="C2" t="b"><v>1</v></c></row>'
        '<row/><row><c r="XFD9"><f>1+1</f><v>2</v></c></row>'
    )

    parsed = read_bytes(packed(xlsx_parts({"Year 1": rows, "Year 2": rows}, shared=["shared"])), "a.xlsx")

    sheet = "shared\t\tin line\n2024-01-01\t1.5\tTRUE\n\t2"
    assert pages_of(parsed) == [f"Year 1\n\n{sheet}", f"Year 2\n\n{sheet}"]
    assert headings_of(parsed) == [(1, "Year 1"), (1, "Year 2")]
    assert cut_lines(parsed)[:2] == ["shared\t\tin line", "2024-01-01\t1.5\tTRUE"]


def test_cells_behind_a_wide_gap_stand_beside_each_other() -> None:
    """One gap is one blank, however wide, and only where it is; a cell that names no column follows."""
    rows = (
        '<row><c r="A1"><v>1</v></c><c r="ZY1"><v>2</v></c><c r="ZZ1"><v>3</v></c><c><v>4</v></c></row>'
        '<row><c r="A2"><v>5</v></c><c r="C2"><v>6</v></c></row>'
    )

    parsed = read_bytes(packed(xlsx_parts({"Wide": rows})), "a.xlsx")

    assert pages_of(parsed) == ["Wide\n\n1\t\t2\t3\t4\n5\t\t6"]


def test_book() -> None:
    """Chapters are pages in reading order."""
    parsed = read_bytes(packed(epub_parts(["<h1>One</h1><p>a</p>", "<h2>Two</h2><p>b</p>"])), "a.epub")

    assert pages_of(parsed) == ["One\n\na", "Two\n\nb"]
    assert headings_of(parsed) == [(1, "One"), (2, "Two")]
    assert parsed.title == "A Book"


def test_protected_book() -> None:
    """A book under copy protection is encrypted; one with hidden fonts is not."""
    parts = epub_parts(["<p>words</p>"])
    lock = (
        '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData><enc:CipherData>'
        '<enc:CipherReference URI="{}"/></enc:CipherData></enc:EncryptedData></encryption>'
    )

    fonts = packed({**parts, "META-INF/encryption.xml": lock.format("OPS/font.otf")})
    locked = packed({**parts, "META-INF/encryption.xml": lock.format("OPS/text/c%200.xhtml")})

    assert (code_of(fonts, "a.epub"), code_of(locked, "a.epub")) == ("epub", "ERR_ENCRYPTED")


def test_html_as_a_reader_sees_it() -> None:
    """Scripts, navigation and hidden parts stay out; headings, lists, rows and preformatted text stay."""
    page = (
        "<html><head><title>A &amp; B</title><style>p{}</style></head><body><nav>menu</nav>"
        "<script>x()</script>"
        "<h1>Top</h1><p>one <b>two</b>\n three</p><p hidden>no</p><p style='display: none'>no</p>"
        "<ul><li>a<li>b</ul><table><tr><th>k<th>v<tr><td>1<td>2</table><pre>x\n  y</pre><h2>End</h2></body>"
    )

    parsed = read_bytes(page.encode(), "a.html")

    assert parsed.title == "A & B"
    assert parsed.text.split() == [*["Top", "one", "two", "three", "-", "a", "-", "b"], *"kv12xy", "End"]
    assert "x\n  y" in parsed.text
    assert headings_of(parsed) == [(1, "Top"), (2, "End")]
    assert cut_lines(parsed) == ["k\tv", "1\t2"]


def test_html_rows_with_blocks_in_their_cells() -> None:
    """What editors put around a cell's words does not tear the row; a table that lays out a page does."""
    data = "<table><tr><th><p>Key</p></th><th><p>Place</p></th></tr><tr><td><div>1</div><p>a</p></td><td>hall"
    layout = (
        f"<table><tr><td><p>{'word ' * 300}</p><p>end</p></td></tr><tr><td><h2>Head</h2><p>x</p></td></tr>"
    )

    rows = read_bytes(data.encode(), "a.html")
    page = read_bytes(layout.encode(), "a.html")

    assert rows.text == "Key\tPlace\n1 a\thall\n"
    assert cut_lines(rows) == ["Key\tPlace", "1 a\thall"]
    assert page.text.endswith("word word\n\nend\n\nHead\n\nx\n\n")
    assert headings_of(page) == [(2, "Head")]


def test_html_headings_with_blocks_inside() -> None:
    """A title in a block of its own is a heading, and one that nobody closed ends where a block begins."""
    page = (
        b"<h1><div> Title </div></h1><p>one</p><h2>Open<p>two</p><ul><li>three</ul><h3><span>Last</span></h3>"
    )

    parsed = read_bytes(page, "a.html")

    assert parsed.text == "Title\n\none\n\nOpen\n\ntwo\n\n- three\nLast\n\n"
    assert headings_of(parsed) == [(1, "Title"), (2, "Open"), (3, "Last")]


@pytest.mark.parametrize(
    "empty", ["<title/>", '<title>t</title><script src="a/b.js" defer="x>y"/>', "<style />"]
)
def test_xhtml_may_close_what_it_opens(empty: str) -> None:
    """Elements that XML leaves empty swallow nothing of what comes behind them."""
    page = (
        f'<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>{empty}</head>'
        '<body><nav id="n"/><p>One<br/>two <a id="x"/>three.</p><p/><div/><p>Four.</p></body></html>'
    )
    parts = epub_parts(["x"])
    parts["OPS/text/c 0.xhtml"] = page

    assert read_bytes(page.encode(), "a.xhtml").text.split() == ["One", "two", "three.", "Four."]
    assert read_bytes(packed(parts), "a.epub").text.split() == ["One", "two", "three.", "Four."]


@pytest.mark.parametrize(
    ("label", "codec", "words"),
    [
        ("windows-1251", "cp1251", "Привет"),
        ("windows-874", "cp874", "สวัสดี ชาวโลก"),
        ("iso-2022-jp", "iso2022_jp", "こんにちは世界"),
        ("iso-8859-1", "cp1252", "“Quoted” for 5 €"),
        ("gb2312", "gb18030", "镕基"),
        ("shift_jis", "cp932", "①髙橋"),
    ],
)
def test_html_names_its_encoding(label: str, codec: str, words: str) -> None:
    """A page of before Unicode says what it is written in, and is taken for what browsers take it for."""
    page = f'<meta charset="{label}"><p>{words}'.encode(codec)

    assert read_bytes(page, "a.html").text.strip() == words


@pytest.mark.parametrize("label", ["idna", "hex", "zip", "undefined", "unicode_escape", "utf-16", "nonsense"])
def test_html_names_no_encoding_of_pages(label: str) -> None:
    """What is no encoding of pages is not believed, and does no harm."""
    page = f'<meta charset="{label}"><p>Grüße aus Köln'.encode("cp1252")

    assert read_bytes(page, "a.html").text.strip() == "Grüße aus Köln"


def test_csv_records() -> None:
    """A record may span lines; a stray quote does not swallow the rest."""
    parsed = read_bytes(b'a,b\n1,"x\ny"\n2,z\n', "a.csv")
    stray = read_bytes(b'a,b\n1,5"\n' + b"2,z\n" * 300, "a.csv")

    assert cut_lines(parsed) == ["a,b", '1,"x', "2,z"]
    assert len(stray.cuts) == 302


def test_json_records() -> None:
    """Escapes people cannot read are letters; records are cut apart; lines of JSON are JSON."""
    parsed = read_bytes(rb'{"items": [{"a": "caf\u00e9 \ud83d\ude00"}, {"b": "\\u0041 \ud800"}]}', "a.json")
    lines = read_bytes(b'{"a": 1}\n{"b": 2}\n', "a.jsonl")

    assert 'café 😀"' in parsed.text
    assert r"\\u0041 \ud800" in parsed.text
    assert {'{"a": "café 😀"}, {"b": "\\\\u0041 \\ud800"}]}', '{"b": "\\\\u0041 \\ud800"}]}'} <= set(
        cut_lines(parsed)
    )
    assert '{"b": 2}' in cut_lines(lines)


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85", "\x7f", "\ufeff", "\u200b"])
def test_json_may_hold_any_letter(sign: str) -> None:
    """Letters that cleaning takes for ends of lines are valid inside a string."""
    parsed = read_bytes(f'[{{"a": "one{sign}two"}}, {{"b": 3}}]'.encode(), "a.json")
    lines = read_bytes(f'{{"a": "one{sign}two"}}\n{{"b": 3}}'.encode(), "a.jsonl")

    assert parsed.text.replace("\n", "") == '[{"a": "onetwo"}, {"b": 3}]'
    assert '{"b": 3}]' in cut_lines(parsed)
    assert '{"b": 3}' in cut_lines(lines)


def test_json_that_is_none() -> None:
    """Broken JSON is told as such, and taken as text by force."""
    assert code_of(b'{"a": 1', "a.json") == "ERR_JSON_INVALID"
    assert read_bytes(b'{"a": 1', "a.json", lenient=True).notes


@pytest.mark.parametrize(
    ("name", "source", "language", "starts"),
    [
        ("a.py", "import x\n\n# about\n@dec\ndef f():\n    pass\n\nclass A:\n    def g(self): ...", "python",
         ["# about", "class A:", "    def g(self): ..."]),
        ("a.rs", "use x;\n\n/// doc\npub fn a() {}\nstruct B;\n", "rust", ["/// doc", "struct B;"]),
        ("a.go", "package a\n\nfunc f() {\n}\n\ntype T struct{}\n", "go", ["func f() {", "type T struct{}"]),
        ("a.ts", "import x\n\nexport const f = (a) => a\nexport class B {}\n", "typescript",
         ["export const f = (a) => a", "export class B {}"]),
        ("A.java", "package a;\n\npublic class A {\n    public int f(int x) {\n", "java",
         ["public class A {", "    public int f(int x) {"]),
        ("a.c", "int x;\n\nint main(int a)\n{\n  f(a);\n}\n", "c", ["int main(int a)"]),
        ("a.sql", "CREATE TABLE t (a);\n\nselect 1;\n", "sql", ["CREATE TABLE t (a);", "select 1;"]),
    ],
)  # fmt: skip
def test_code_is_cut_at_definitions(name: str, source: str, language: str, starts: list[str]) -> None:
    """A definition starts with the comments and decorators that belong to it."""
    parsed = read_bytes(source.encode(), name)

    assert (parsed.language, parsed.text) == (language, source.strip("\n"))
    assert cut_lines(parsed) == starts


def test_a_missing_part_is_damage() -> None:
    """A file that names a part it does not have is damaged, not shorter."""
    slides = pptx_parts([("One", ["a"]), ("Two", ["b"])])
    del slides["ppt/slides/slide1.xml"]
    sheets = xlsx_parts({"A": '<row><c t="s"><v>9</v></c></row>'})
    chapters = epub_parts(["<p>a</p>", "<p>b</p>"])
    del chapters["OPS/text/c 1.xhtml"]
    nothing = {**docx_parts(""), "_rels/.rels": relations()}
    del nothing["word/document.xml"]

    codes = [
        code_of(packed(slides), "a.pptx"),
        code_of(packed(sheets), "a.xlsx"),
        code_of(packed(chapters), "a.epub"),
        code_of(packed(nothing), "a.docx"),
        code_of(docx("<w:p>"), "a.docx"),
    ]

    assert codes == [
        "ERR_PPTX_INVALID", "ERR_XLSX_INVALID", "ERR_EPUB_INVALID", "ERR_DOCX_INVALID", "ERR_DOCX_INVALID"
    ]  # fmt: skip


def test_what_is_left_of_a_damaged_package_can_be_taken() -> None:
    """With leave, a missing or broken part costs itself: pages keep their numbers, notes tell of it."""
    slides = pptx_parts([("One", ["a"]), ("Two", ["b"]), ("Three", ["c"])])
    del slides["ppt/slides/slide2.xml"]
    sheets = xlsx_parts({name: f'<row><c t="inlineStr"><is><t>{name}</t></is></c></row>' for name in "ABC"})
    sheets["xl/worksheets/sheet2.xml"] = str(sheets["xl/worksheets/sheet2.xml"])[:-5]
    chapters = epub_parts(["<p>a</p>", "<p>b</p>", "<p>c</p>"])
    del chapters["OPS/text/c 1.xhtml"]
    body = docx_parts(paragraph("Read.") + paragraph("Lost."))
    body["word/document.xml"] = str(body["word/document.xml"])[:-40]

    show = read_bytes(packed(slides), "a.pptx", lenient=True)
    book = read_bytes(packed(chapters), "a.epub", lenient=True)
    table = read_bytes(packed(sheets), "a.xlsx", lenient=True)
    word = read_bytes(packed(body), "a.docx", lenient=True)

    assert [page.strip() for page in pages_of(show)] == ["One\n\na", "", "Three\n\nc"]
    assert [page.strip() for page in pages_of(book)] == ["a", "", "c"]
    assert [page.split() for page in pages_of(table)] == [["A", "A"], ["B", "B"], ["C", "C"]]
    assert "Read." in word.text
    for parsed, told in ((show, "Slide 2"), (book, "Chapter 2"), (table, "Sheet 2"), (word, "The text")):
        assert any(note.startswith(f"{told} could not be read to its end") for note in parsed.notes)


@pytest.mark.parametrize("ending", ["docx", "pptx", "xlsx", "epub"])
def test_a_package_nothing_can_be_taken_of_is_damaged_even_so(ending: str) -> None:
    """Leave to take what is left makes no text of nothing, and lifts no limit."""
    parts = {
        "docx": docx_parts("<w:p>"),
        "pptx": pptx_parts([("One", ["a"])]),
        "xlsx": xlsx_parts({"A": '<row><c t="s"><v>9</v></c></row>'}),
        "epub": epub_parts(["<p>a</p>"]),
    }[ending]
    for part in ("ppt/slides/slide1.xml", "OPS/text/c 0.xhtml"):
        parts.pop(part, None)

    assert code_of(packed(parts), f"a.{ending}", lenient=True) == f"ERR_{ending.upper()}_INVALID"
    assert code_of(packed(parts)[:-30], f"a.{ending}", lenient=True) == f"ERR_{ending.upper()}_INVALID"
