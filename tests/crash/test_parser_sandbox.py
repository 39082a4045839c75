"""A parser that a file took over gets nowhere."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from penstock.engines.parsers.abilities import abilities
from penstock.wiring.parsers import parser_abilities

TOP = Path(__file__).resolve().parents[2]
ALWAYS_SHUT = {"grow an open file", "take much memory", "raise the memory", "become root"}
"""What limits alone keep shut, on any kernel."""


def test_every_way_out_is_shut() -> None:
    """Files, network, processes, signals and memory are out of reach from inside."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        Path(folder).chmod(0o777)  # so that only the shield, and no mode of a folder, can be what holds
        ran = subprocess.run(
            [sys.executable, "-m", "tests.support.prisoner", folder, str(server.getsockname()[1])],
            cwd=TOP,
            stdout=subprocess.PIPE,
            timeout=60,
            check=False,
        )

    worked = set(json.loads(ran.stdout))
    assert not worked & ALWAYS_SHUT
    if abilities().strict:
        assert worked == set()
    assert ran.returncode == -signal.SIGABRT


def test_what_the_kernel_offers_is_said_in_words() -> None:
    """The doctor can show how well parsers are shut in here."""
    found = parser_abilities()

    assert ("no Landlock" in found.words) == (found.landlock == 0)
    assert ("no seccomp" in found.words) == (not found.seccomp)
