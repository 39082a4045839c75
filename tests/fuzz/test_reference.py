"""schemathesis asks the running program everything its own reference allows, and much that it does not.

It lives in a venv of its own, so it is called as a program; `make fuzz` installs it. Once it asks about
things that are there, so that routes are walked to their ends, and once about whatever it thinks of.
"""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.command_line import Program
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN, Tenant

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(1_800)]
ASKER = Path(__file__).resolve().parents[2] / ".venv-fuzz" / "bin" / "st"
CASES = int(os.environ.get("PENSTOCK_FUZZ_CASES", "1000"))
"""At least so many in each of the two passes."""
ONLY = os.environ.get("PENSTOCK_FUZZ_ONLY", "")
"""A pattern of paths, where not all of them are to be asked."""
SEED = int(os.environ.get("PENSTOCK_FUZZ_SEED", "5"))
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)
PARAMETERS = {
    "path.workspace_id": "workspace",
    "path.document_id": "document",
    "path.job_id": "job",
    "path.conversation_id": "conversation",
    "path.message_id": "message",
    "path.name": "collection",
    "query.workspace_id": "workspace",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(Program(tmp_path_factory.mktemp("fuzz")), "run", "--role=all", env=SIGNED_IN) as served:
        yield served


@pytest.mark.parametrize("known", [True, False], ids=["things that are there", "anything"])
def test_the_reference_is_true(served: Served, tmp_path: Path, known: bool) -> None:
    """No 5xx, no status or media type it does not name, no body that is not as it says."""
    tenant, doomed = Tenant(served, "heron"), Tenant(served, "heron")
    doomed.user, doomed.token, doomed.client = tenant.user, tenant.token, tenant.client
    for each in (tenant, doomed):
        each.settle()
    settings = configured(tenant.ids, doomed.ids) if known else ""
    (tmp_path / "schemathesis.toml").write_text(settings)

    ran = asked(served, tenant.token, tmp_path)

    tenant.client.close()
    assert ran.returncode == 0, ran.stdout[-20_000:]
    assert counted(ran.stdout) >= CASES, ran.stdout[-2_000:]
    assert "a request failed" not in "".join(served.lines)


def configured(ids: Mapping[str, str], doomed: Mapping[str, str]) -> str:
    """Ids for the places that want some; what is deleted is another of its kind."""

    def table(chosen: Mapping[str, str]) -> str:
        return "\n".join(f'"{name}" = "{chosen[kind]}"' for name, kind in PARAMETERS.items())

    deleting = ", ".join(f'"{name}" = "{doomed[kind]}"' for name, kind in PARAMETERS.items())
    return (
        f"[parameters]\n{table(ids)}\n\n"
        f'[[operations]]\ninclude-method = "DELETE"\nparameters = {{ {deleting} }}\n'
    )


def asked(served: Served, token: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Let it ask; how it ended, and what it said."""
    return subprocess.run(
        [
            *(str(ASKER), "run", f"{served.address}/api/openapi.json"),
            *("--header", f"Authorization: Bearer {token}", "--exclude-path", "/api/events"),
            *(("--include-path-regex", ONLY) if ONLY else ()),
            *("--checks", ",".join(CHECKS), "--seed", str(SEED), "--max-examples", str(max(1, CASES // 40))),
            *("--continue-on-failure", "--no-shrink", "--suppress-health-check", "all", "--warnings", "off"),
            *("--request-timeout", "60"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1_500,
        check=False,
    )


def counted(said: str) -> int:
    """How many requests it says it made."""
    found = re.search(r"([\d,]+) generated", said)
    return 0 if found is None else int(found[1].replace(",", ""))
