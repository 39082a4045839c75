"""Times, spans and jobs in the words of the command line, and columns that fit."""

import io
import time
from contextlib import redirect_stdout

import click
import pytest
from rich.console import Console
from rich.text import Text

from penstock.doors.cli.columns import Column, fitted
from penstock.doors.cli.output import clean, json_text, table
from penstock.doors.cli.values import duration, interval, moment, pair, text
from penstock.doors.cli.words import parsed, plural, since, span
from tests.support.streams import Terminal

ID = "01a1e156-5009-7fdb-a2a3-a8e6a8f57875"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0s"), (0.9, "0s"), (59, "59s"), (60, "1m 0s"), (3_661, "1h 1m"), (90_000, "1d 1h"), (-5, "0s")],
)
def test_a_span_is_told_in_its_two_largest_units(seconds: float, words: str) -> None:
    """Short enough for a table, exact enough to act on."""
    assert span(seconds) == words


def test_a_moment_is_told_from_now() -> None:
    """Before or after."""
    assert (since(90, 100), since(110, 100)) == ("10s ago", "in 10s")


def test_numbers_agree_with_their_words() -> None:
    """One job, two jobs."""
    assert (plural(1, "job"), plural(2_000, "job")) == ("1 job", "2,000 jobs")


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2030-01-31T08:00:00Z", 1_896_076_800.0),
        ("2030-01-31T08:00:00", 1_896_076_800.0),
        ("2030-01-31 09:00+01:00", 1_896_076_800.0),
    ],
)
def test_a_time_is_utc_unless_it_says(written: str, at: float) -> None:
    """The same words mean the same moment on every machine."""
    assert moment(written) == at


def test_a_time_may_be_a_span_from_now() -> None:
    """`+10m` is ten minutes ahead."""
    assert moment("+10m") == pytest.approx(time.time() + 600, abs=5)


@pytest.mark.parametrize(
    "written",
    [
        "tomorrow",
        "+",
        "+soon",
        "",
        "99999-01-01",
        "+9999999d",
        "9999-12-31T23:59:59-23:00",
    ],
)
def test_what_is_no_time_is_refused(written: str) -> None:
    """With words, not with a traceback."""
    with pytest.raises(click.BadParameter):
        moment(written)


def test_other_values_are_refused_with_words() -> None:
    """Durations, intervals and text that cannot be stored."""
    for convert, written in ((duration, "soon"), (interval, "1ms"), (text, ""), (text, "\udcff")):
        with pytest.raises(click.BadParameter):
            convert(written)


def test_text_is_cleaned_of_everything_that_acts() -> None:
    """Control characters of both sets, line separators and those that turn text around."""
    assert clean("a\tb\x1b[m\x9b\u2028\u202ec→") == r"a\tb\x1b[m\x9b\u2028\u202ec→"


def test_json_is_readable_and_safe_to_print() -> None:
    """Names stay as they are; what a terminal would act on is escaped."""
    assert json_text({"name": "résumé\x9b\x1b"}) == '{"name": "résumé\\u009b\\u001b"}'


def drawn(columns: list[Column], width: int) -> list[str]:
    screen = Console(file=io.StringIO(), width=width)
    with screen.capture() as captured:
        screen.print(fitted(columns, width))
    return [line.rstrip() for line in captured.get().splitlines()]


def column(title: str, cell: str, rank: int = 0, *, is_flexible: bool = False) -> Column:
    return Column(title=title, cells=[Text(cell)], rank=rank, is_flexible=is_flexible)


def test_columns_join_while_there_is_room() -> None:
    """The ones that matter stay whole on a narrow terminal, the others come with the width."""
    columns = [
        column("JOB", ID),
        column("TENANT", "acme", rank=2),
        column("ABOUT", "/documents/a/long/way/report.pdf", is_flexible=True),
        column("ERROR", "ERR_TIMEOUT", rank=1),
    ]

    heads = {width: drawn(columns, width)[0].split() for width in (50, 70, 100)}

    assert heads == {
        50: ["JOB", "ABOUT"],
        70: ["JOB", "ABOUT", "ERROR"],
        100: ["JOB", "TENANT", "ABOUT", "ERROR"],
    }
    assert drawn(columns, 50)[1] == f"{ID}  …/report.pdf"


def test_a_sentence_keeps_its_start() -> None:
    """Where a path is cut from the front."""
    why = Column(title="REASON", cells=[Text("there is no such file")], is_flexible=True, keeps_start=True)

    assert drawn([column("JOB", ID), why], 50)[1] == f"{ID}  there is no…"


def test_few_rows_are_columns_for_a_person_and_tabs_for_a_pipe() -> None:
    """Measured by what the cells take, whatever they hold; nothing stands behind the last."""
    rows = [("queue", "文件", 1), ("heartbeats", None), ("\x1b[m", "a", 20)]
    for stream, expected in (
        (Terminal(), ["queue       文件  1", "heartbeats", r"\x1b[m      a     20"]),
        (io.StringIO(), ["queue\t文件\t1", "heartbeats\t", r"\x1b[m" + "\ta\t20"]),
    ):
        with redirect_stdout(stream):
            table(rows)

        assert stream.getvalue().splitlines() == expected


def test_an_empty_column_is_left_out() -> None:
    """A heading over nothing says nothing."""
    assert drawn([column("JOB", ID), column("ERROR", "")], 100)[0] == "JOB"


def test_wide_characters_are_measured_by_what_they_take() -> None:
    """A name in Chinese is cut to the cells it may use."""
    columns = [column("JOB", ID), column("ABOUT", "文件" * 20, is_flexible=True)]

    assert drawn(columns, 60)[1] == f"{ID}  …{'文件' * 5}"


@pytest.mark.parametrize(
    "stored",
    ["not json", "[" * 50_000 + "]" * 50_000, '{"a": NaN}', "-Infinity"],
    ids=["words", "nested without end", "not a number", "infinite"],
)
def test_what_is_no_json_is_shown_as_it_is(stored: str) -> None:
    """Rows written by hand may hold any text; none of it stops a listing or leaves as broken JSON."""
    assert parsed(stored) == stored


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("year=2024", 2024),
        ("year=20.5", 20.5),
        ("draft=true", True),
        ('year="2024"', "2024"),
        ("code=007", "007"),
        ("who=Ann=Bea", "Ann=Bea"),
        ("who=", ""),
        ("list=[1]", "[1]"),
        ("none=null", "null"),
        ("odd=NaN", "NaN"),
        ("long=123456789012345678901234567890", "123456789012345678901234567890"),
    ],
)
def test_metadata_means_the_same_where_it_is_given_and_where_it_is_asked_for(
    given: str, meant: object
) -> None:
    """Numbers, true and false are what they look like, everything else is text."""
    assert pair(given)[1] == meant
    assert type(pair(given)[1]) is type(meant)


@pytest.mark.parametrize("given", ["", "year", "=2024", " =1"])
def test_metadata_has_a_key(given: str) -> None:
    """A pair that is none is refused."""
    with pytest.raises(click.BadParameter):
        pair(given)
