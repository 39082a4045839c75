"""Clean text: composed, without what cannot be shown, and quick whatever comes."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.pipeline.parse.cleaning import clean
from penstock.pipeline.parse.decoding import decode
from tests.support.parsing import code_of, read_bytes


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("one\r\ntwo\rthree\x0bfour", "one\ntwo\nthree\nfour"),
        ("a\x00b\x1bc\x9fd\x7f", "abcd"),
        ("co\xadop\u200berate\ufeff", "cooperate"),
        ("\u202etxt.exe\u202c", "txt.exe"),
        ("ignore\U000e0041\U000e0042 this", "ignore this"),
        ("e\u0301", "é"),
        ("o\ufb03ce", "office"),
        ("lone \ud800 half", "lone \ufffd half"),
        ("tail  \t \nnext", "tail\nnext"),
        ("a" + " " * 5000 + "b", "a" + " " * 80 + "b"),
        ("a" + "\n" * 5000 + "b", "a\n\n\nb"),
        ("keep\tthe\ttabs", "keep\tthe\ttabs"),
    ],
)
def test_what_no_reader_wants_is_gone(raw: str, expected: str) -> None:
    """Each kind of dirt has its rule."""
    assert clean(raw) == expected


def test_a_million_marks_on_one_letter_take_no_time() -> None:
    """Ordering endless marks is quadratic, so endless marks are cut short first."""
    cleaned = clean("a" + "\u0301\u0323" * 1_000_000)

    assert len(cleaned) < 100


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_any_text_becomes_clean_and_stays_so(raw: str) -> None:
    """Cleaning gives valid composed text, and cleaning it again changes nothing."""
    cleaned = clean(raw)

    assert cleaned.encode().decode() == cleaned
    assert unicodedata.is_normalized("NFC", cleaned)
    assert not any(unicodedata.category(letter) in ("Cc", "Cs") for letter in cleaned if letter not in "\n\t")
    assert clean(cleaned) == cleaned


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b""),
        ("utf-16-be", b""),
        ("utf-16", b""),
        ("utf-32", b""),
    ],
)
def test_unicode_is_read_in_all_its_forms(encoding: str, mark: bytes) -> None:
    """With a mark at the start or without, Unicode is Unicode."""
    text = "Plain words, and some naïve café talk.\n" * 5

    assert decode(mark + text.encode(encoding)).text.lstrip("\ufeff") == text


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Die Größe der Brücke über den Fluß wäre für Fußgänger schön. " * 5),
        ("cp1251", "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 5),
        ("shift_jis", "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。" * 5),
    ],
)
def test_older_encodings_are_guessed(encoding: str, text: str) -> None:
    """Text from before Unicode comes out as it was meant."""
    assert decode(text.encode(encoding)).text == text


def test_a_few_bad_bytes_are_told_not_hidden() -> None:
    """A character that cannot be read is replaced, and a note says so."""
    data = ("Grüße und schöne Wörter über Äpfel. " * 20).encode() + b"\xff\xfe bad"

    parsed = read_bytes(data, "a.txt")

    assert "\ufffd" in parsed.text
    assert any("could not be read" in note for note in parsed.notes)


@pytest.mark.parametrize(
    "text",
    [
        "Die Größe der Brücke wäre für Fußgänger schön. ",
        "L'été dernier, déjà, il fut très naïf. ",
        "Съешь же ещё этих мягких французских булок. ",
        "He said “yes” and meant “no”. ",
    ],
)
@pytest.mark.parametrize("before", ["", "plain words\n" * 6000], ids=["at once", "late"])
def test_one_bad_byte_does_not_make_another_encoding(text: str, before: str) -> None:
    """UTF-8 is UTF-8 wherever its letters begin, however few: what is damaged is replaced and told."""
    found = decode((before + text).encode() + b"\xff end")

    assert found.text == f"{before}{text}\ufffd end"
    assert (found.encoding, found.replaced) == ("utf-8", 1)
    assert found.note


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp866", "Работа была сделана вчера, природа прекрасна. " * 5),
        ("euc_jp", "東京は大きな都市であり、多くの人々が住んでいます。カタカナも使います。" * 5),
        ("gb18030", "北京是中国的首都。有很多人住在那里。我们今天去图书馆看书。" * 5),
    ],
)
def test_an_older_encoding_that_looks_a_little_like_unicode_is_none(encoding: str, text: str) -> None:
    """Letters of these make valid sequences by chance, but more that are not."""
    assert decode(text.encode(encoding)).text == text


def test_noise_is_no_text() -> None:
    """Bytes that are text in no encoding are refused, and can still be taken by force."""
    noise = bytes(range(256)) * 40

    assert code_of(noise, "a.txt") == "ERR_TEXT_ENCODING"
