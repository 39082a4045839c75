"""A project's tenant: one for every way to write its remote."""

import pytest

from penstock.model.fingerprints import hash16
from penstock.model.projects import normalised_remote, tenant_of_project

SAME = [
    "https://github.com/ann/tool.git",
    "https://github.com/ann/tool",
    "http://github.com/ann/tool/",
    "https://ann:secret@GitHub.com:443/ann/tool.git",
    "https://x-token@github.com/ann/tool.git?ref=1#readme",
    "git@github.com:ann/tool.git",
    "github.com:ann/tool",
    "git@github.com:/ann/tool.git",
    "ssh://git@github.com/ann/tool.git",
    "ssh://git@github.com:22//ann/tool.git/",
    "git://github.com/ann/tool",
    " git+ssh://git@github.com/ann/tool.git\n",
]


@pytest.mark.parametrize("url", SAME)
def test_all_forms_of_a_remote_are_one(url: str) -> None:
    """Scheme, credentials, standard port, case of the host and `.git` make no difference."""
    assert normalised_remote(url) == "github.com/ann/tool"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("ssh://git@host:2222/x.git", "host:2222/x"),
        ("https://[2001:DB8::1]:8443/x", "[2001:db8::1]:8443/x"),
        ("git@[2001:db8::1]:x.git", "[2001:db8::1]/x"),
        ("https://github.com/Ann/Tool", "github.com/Ann/Tool"),
        ("file:///srv/git/x.git", "/srv/git/x"),
        ("/srv/git/x.git/", "/srv/git/x"),
        ("../x.git", "../x"),
        ("./a:b", "./a:b"),
        ("https://host/a%20b", "host/a b"),
        ("https://host", "host"),
        ("https:///x", None),
        ("", None),
        ("  ", None),
    ],
)
def test_other_remotes_keep_what_tells_them_apart(url: str, expected: str | None) -> None:
    """A port of its own, the case of the path, a place on this machine."""
    assert normalised_remote(url) == expected


def test_tenant_is_a_hash_of_the_remote_else_of_the_path() -> None:
    """16 hex digits, the same on every machine that has the same remote."""
    assert {tenant_of_project("/x", url) for url in SAME} == {hash16("github.com/ann/tool")}
    assert tenant_of_project("/x", None) == hash16("/x")
    assert tenant_of_project("/x", " ") == hash16("/x")
