"""What servers of two generations say when a command inside a script is refused, word for word."""

import pytest

from penstock.engines.redis.faults import PASSING, fault_of
from penstock.engines.redis.protocol import ReplyError
from penstock.model.errors import Broken, Unavailable

BEFORE_7 = "ERR Error running script (call to f_6b1bf486c81ceb7edf3c093f4a48582e38c0e791): "
SINCE_7 = " script: 6b1bf486c81ceb7edf3c093f4a48582e38c0e791, on @user_script:1."
READONLY = "READONLY You can't write against a read only replica."
OOM = "OOM command not allowed when used memory > 'maxmemory'."
MISCONF = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk."
NOREPLICAS = "NOREPLICAS Not enough good replicas to write."
WRONGTYPE = "WRONGTYPE Operation against a key holding the wrong kind of value"


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (READONLY, "ERR_STORE_READ_ONLY"),
        (OOM, "ERR_STORE_FULL"),
        (MISCONF, "ERR_STORE_READ_ONLY"),
        (NOREPLICAS, "ERR_STORE_UNAVAILABLE"),
    ],
)
@pytest.mark.parametrize(
    "form",
    ["{}", BEFORE_7 + "@user_script:1: @user_script: 1: -{}", "{}" + SINCE_7],
    ids=["bare", "6.2", "7"],
)
def test_a_server_that_cannot_be_written_is_waited_for(form: str, said: str, code: str) -> None:
    """In a script of either generation it is the same trouble as outside, and passes."""
    error = ReplyError(form.format(said))

    fault = fault_of(error, "redis://here", "claim")

    assert isinstance(fault, Unavailable)
    assert fault.code == code
    assert (error.word in PASSING) == (said in (READONLY, NOREPLICAS))


@pytest.mark.parametrize("form", ["{}", BEFORE_7 + "@user_script:3: {}", "{}" + SINCE_7])
def test_a_key_of_another_kind_is_told_from_inside_a_script(form: str) -> None:
    """It has its own code, also where the script's name comes first."""
    fault = fault_of(ReplyError(form.format(WRONGTYPE)), "redis://here", "claim")

    assert isinstance(fault, Broken)
    assert fault.code == "ERR_STORE_CORRUPT"


@pytest.mark.parametrize(
    "said",
    [
        BEFORE_7 + "@user_script:1: @user_script: 1: The user executing the script can't run this command",
        "ERR The user executing the script can't access at least one of the keys" + SINCE_7,
        "ERR ACL failure in script: No permissions to access a key script: on @user_script:1.",
    ],
    ids=["6.2", "7.0", "Valkey 9"],
)
def test_a_right_that_is_missing_is_told_from_inside_a_script(said: str) -> None:
    """No server says NOPERM there."""
    fault = fault_of(ReplyError(said), "redis://here", "claim")

    assert isinstance(fault, Unavailable)
    assert fault.code == "ERR_STORE_SIGN_IN"


@pytest.mark.parametrize(
    "said",
    [
        BEFORE_7 + "@user_script:5: user_script:5: attempt to index a nil value",
        BEFORE_7 + "@user_script:5: READ of nothing -READONLY",
        "ERR wrong number of arguments for 'get' command -READONLY",
    ],
)
def test_a_script_that_is_wrong_is_broken(said: str) -> None:
    """What a script says itself is no word of the server, whatever stands in it."""
    fault = fault_of(ReplyError(said), "redis://here", "claim")

    assert isinstance(fault, Broken)
    assert fault.code == "ERR_BROKEN"
