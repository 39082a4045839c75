"""The ledger of a watched folder: what settles, what waits, and what counts as a move."""

from penstock.engines.disk.ledger import Ledger
from penstock.model.files import Appeared, FoundFile, Modified, Moved, Vanished

QUIET = 10.0


def a_file(path: str, *, inode: int = 1, size: int = 5, mtime: int = 7) -> FoundFile:
    return FoundFile(path=path, size=size, mtime_ns=mtime, inode=inode)


def look(ledger: Ledger, now: float, *files: FoundFile) -> None:
    """Everything below /r is as these files say."""
    found = {file.path: file for file in files}
    ledger.compare({*ledger.below({"/r"}), *found}, found, now)


def test_a_difference_is_told_when_it_has_stood_for_the_quiet_time() -> None:
    """W1: neither before nor twice."""
    ledger, file = Ledger([], quiet=QUIET), a_file("/r/a")
    look(ledger, 0, file)

    assert (ledger.settle(9), ledger.next_due()) == ((), 10)
    assert ledger.settle(10) == (Appeared(file=file),)
    assert (ledger.settle(30), ledger.next_due()) == ((), None)


def test_every_change_begins_the_wait_anew() -> None:
    """W1: a growing file is not complete."""
    ledger = Ledger([], quiet=QUIET)
    for now in range(0, 40, 8):
        look(ledger, now, a_file("/r/a", size=now))
        assert ledger.settle(now) == ()

    assert ledger.settle(42) == (Appeared(file=a_file("/r/a", size=32)),)


def test_what_comes_back_as_it_was_is_no_change() -> None:
    """W1: gone for a moment, and there again."""
    file = a_file("/r/a")
    ledger = Ledger([file], quiet=QUIET)
    look(ledger, 0)
    look(ledger, 5, file)

    assert ledger.settle(100) == ()


def test_halves_of_a_move_wait_for_each_other() -> None:
    """W1: seen at different times, told as one."""
    old, new = a_file("/r/a"), a_file("/r/d/b")
    ledger = Ledger([old], quiet=QUIET)
    look(ledger, 0, old, new)
    look(ledger, 6, new)

    assert ledger.settle(10) == ()
    assert ledger.settle(16) == (Moved(old="/r/a", file=new),)
    assert ledger.below({"/r"}) == {"/r/d/b"}


def test_an_inode_used_again_is_no_move() -> None:
    """W1: size and time must be the same too."""
    ledger = Ledger([a_file("/r/a")], quiet=QUIET)
    other = a_file("/r/b", mtime=8)
    look(ledger, 0, other)

    assert set(ledger.settle(10)) == {Vanished(path="/r/a"), Appeared(file=other)}


def test_one_file_moves_to_one_place() -> None:
    """W1: a second name of the same file is a new one."""
    ledger = Ledger([a_file("/r/a")], quiet=QUIET)
    look(ledger, 0, a_file("/r/b"), a_file("/r/c"))

    assert set(ledger.settle(10)) == {
        Moved(old="/r/a", file=a_file("/r/b")),
        Appeared(file=a_file("/r/c")),
    }


def test_a_part_is_compared_alone() -> None:
    """W1: looking at one folder says nothing about its neighbours, whatever their names."""
    files = [a_file("/r/d/a", inode=1), a_file("/r/de", inode=2), a_file("/r/d-e/b", inode=3)]
    ledger = Ledger(files, quiet=QUIET)
    ledger.compare(ledger.below({"/r/d"}), {}, 0)

    assert ledger.settle(10) == (Vanished(path="/r/d/a"),)


def test_unsettled_differences_can_be_forgotten() -> None:
    """W4: after the folder was away nothing of before counts."""
    file = a_file("/r/a")
    ledger = Ledger([file], quiet=QUIET)
    look(ledger, 0)
    ledger.forget_seen()

    assert ledger.settle(100) == ()
    look(ledger, 100, a_file("/r/a", size=6))
    assert ledger.settle(110) == (Modified(file=a_file("/r/a", size=6)),)


class Asked(frozenset[str]):
    """Folders that count how often one is looked for among them."""

    times = 0

    def __contains__(self, name: object) -> bool:
        Asked.times += 1
        return super().__contains__(name)


def test_many_folders_are_looked_below_in_one_pass() -> None:
    """Thousands of folders that changed at once cost a look at each known folder, not at each for each."""
    known = [a_file(f"/r/d{number}/a") for number in range(500)]
    ledger = Ledger(known, quiet=1)
    folders = Asked(f"/r/d{number}" for number in range(0, 500, 2))

    assert ledger.below(folders) == {f"/r/d{number}/a" for number in range(0, 500, 2)}
    assert Asked.times <= 3 * len(known)
