"""Redis' refusals and broken connections in the words of the model; what was said stays attached."""

from __future__ import annotations

import ssl

from penstock.engines.redis.protocol import ReplyError
from penstock.model.errors import Broken, Fault, Refused, Unavailable

PASSING = frozenset({"LOADING", "READONLY", "MASTERDOWN", "BUSY", "TRYAGAIN", "CLUSTERDOWN", "NOREPLICAS"})
"""Refusals of a server that is starting, failing over or held up: nothing was done, and it may soon be."""
DEMOTED = frozenset({"READONLY", "MASTERDOWN"})
"""Refusals of a server that is the master no longer: the same address may lead to another one by now."""
SIGN_IN = frozenset({"NOAUTH", "WRONGPASS", "NOPERM", "DENIED"})
_CLUSTER = frozenset({"MOVED", "ASK", "CROSSSLOT"})
_DENIED = ("ACL failure in script", "The user executing the script can't")
"""How servers tell, inside a script, what NOPERM says outside; since 7.2, and before."""


class ScriptMissing(Broken):
    """The server does not know the script's digest; it did nothing."""


def fault_of(error: ReplyError, where: str, what: str) -> Fault:
    """Whose move is it after this refusal? `what` is the command or script, never its arguments."""
    word, text = error.word, error.text
    fault: Fault
    if word == "NOSCRIPT":
        fault = ScriptMissing(f"{where} does not know the script {what}")
    elif word == "OOM":
        fault = Unavailable(f"{where} is at its memory limit and refuses {what}", code="ERR_STORE_FULL")
    elif word == "BUSY":
        fault = Unavailable(f"{where} is held up by a script that does not end", code="ERR_STORE_BUSY")
    elif word == "READONLY":
        fault = Unavailable(f"{where} is a replica that cannot be written", code="ERR_STORE_READ_ONLY")
    elif word == "MISCONF":
        fault = Unavailable(f"{where} cannot write to its disk ({text})", code="ERR_STORE_READ_ONLY")
    elif word in PASSING:
        fault = Unavailable(f"{where} is not ready ({text})", code="ERR_STORE_UNAVAILABLE")
    elif word in SIGN_IN or what == "AUTH" or any(denied in text for denied in _DENIED):
        fault = Unavailable(f"{where} does not let us in: {text}", code="ERR_STORE_SIGN_IN")
    elif "max number of clients" in text:
        fault = Unavailable(f"{where} has no room for another connection", code="ERR_STORE_BUSY")
    elif word in _CLUSTER:
        fault = Refused(
            f"{where} is part of a Redis Cluster, which a queue cannot live on", code="ERR_STORE_UNFIT"
        )
    elif word == "WRONGTYPE":
        fault = Broken(f"{where}: {what} found a key of another kind ({text})", code="ERR_STORE_CORRUPT")
    else:
        fault = Broken(f"{where}: {what}: {text}", code="ERR_BROKEN")
    fault.__cause__ = error
    return fault


def late(where: str, seconds: float, *, sent: bool) -> Unavailable:
    """The fault of a deadline that passed."""
    known = "; whether it was done is not known" if sent else ""
    return Unavailable(f"{where} gives no answer within {seconds:.1f} s{known}", code="ERR_STORE_UNAVAILABLE")


def broken_off(where: str, why: str, *, sent: bool) -> Unavailable:
    """The fault of a connection that broke."""
    known = " before the reply came; whether it was done is not known" if sent else ""
    return Unavailable(f"the connection to {where} broke{known} ({why})", code="ERR_STORE_UNAVAILABLE")


def unreachable(where: str, error: Exception) -> Fault:
    """The fault of a connection that could not be made."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return Refused(f"{where} shows a certificate nobody trusts ({error})", code="ERR_STORE_SIGN_IN")
    why = "no answer" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
    return Unavailable(f"{where} cannot be reached ({why})", code="ERR_STORE_UNAVAILABLE")
