"""Scripts are files: found by name, known by the digest the server gives them, joined from parts."""

from pathlib import Path

import pytest

from penstock.engines.redis.scripts import Script, Scripts
from penstock.settings import RedisServer
from tests.support.servers.bare import Bare


def folder_with(tmp_path: Path, **texts: str) -> Scripts:
    for name, text in texts.items():
        path = tmp_path / f"{name.replace('__', '/')}.lua"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return Scripts(tmp_path)


def test_the_digest_is_the_servers_own(redis: RedisServer) -> None:
    """EVALSHA finds the script under the name we compute."""
    script = Script.of("one", "return 1 -- ü")

    with Bare(redis) as bare:
        assert bare.call("SCRIPT", "LOAD", script.text) == script.digest


def test_scripts_are_found_by_name(tmp_path: Path) -> None:
    """Every file of the folder, and no part of one."""
    scripts = folder_with(tmp_path, claim="return 1", settle="return 2", parts__line="return 3")

    assert list(scripts) == ["claim", "settle"]
    assert scripts["claim"].text == b"return 1"
    assert scripts["claim"] is scripts["claim"]
    with pytest.raises(KeyError):
        scripts["missing"]


def test_parts_are_taken_in_where_they_are_named(tmp_path: Path) -> None:
    """A part may take in another; a part that takes in itself is refused."""
    scripts = folder_with(
        tmp_path,
        claim="-- claim.lua\n-- include: line\nreturn 1\n",
        parts__line="-- include: word\nlocal line = 1",
        parts__word="local word = 1",
        endless="-- include: endless",
        parts__endless="-- include: endless",
    )

    assert scripts["claim"].text == b"-- claim.lua\nlocal word = 1\nlocal line = 1\nreturn 1\n"
    with pytest.raises(ValueError, match="includes itself"):
        scripts["endless"]
