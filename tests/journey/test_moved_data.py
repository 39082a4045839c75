"""A data folder moved under the running program: it is noticed, told, and no other is made in its place."""

import pytest

from tests.support.command_line import Program
from tests.support.served import serving
from tests.support.waiting import until


@pytest.mark.parametrize("words", [("run", "--role=all"), ("serve",)])
def test_a_program_whose_data_are_moved_ends_and_says_why(program: Program, words: tuple[str, ...]) -> None:
    """It ends by itself with 2, says what to do, and leaves the moved folder for the next start."""
    with serving(program, *words) as served:
        if words[0] == "run":
            until("a worker beats", lambda: program.json("queue", "status")["workers_alive"] == 1)
        with served.client() as client:
            client.post("/workspaces", json={"name": "Kept"}).raise_for_status()
        moved = program.data.rename(program.folder / "elsewhere")
        code = served.ended()

    told = "".join(served.lines)
    assert code == 2, told
    assert "is not the file this program has open: there is none; nothing more is written" in told
    assert "(ERR_STORE_MOVED)" in told
    assert "Put the data folder where it was" in told
    assert not (program.data / "penstock.db").exists()
    with serving(program, "serve", env={"PENSTOCK_DATA": str(moved)}) as again, again.client() as client:
        names = [each["name"] for each in client.get("/workspaces").json()["items"]]
    assert "Kept" in names
