"""Whether a server is one a queue can be trusted to: a keeper of data, not a cache, and a single one.

What is found are values: the start refuses what is wrong, `doctor` shows all of it. What would only lose or
evict jobs one day is wrong in production and a warning in development; what cannot work is wrong in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.engines.redis.client import Client
from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Broken, Fault, Refused, Unavailable

CHECK = "redis"
VERSION_LEAST = (6, 2)

Facts = Mapping[str, str]
"""What INFO and CONFIG say; a key that is missing could not be asked."""


async def examine(client: Client, *, production: bool) -> list[Finding]:
    """Every finding about the server; asks, changes nothing."""
    facts = await facts_of(client)
    return findings(facts, client.where, production=production)


def refuse_unfit(found: Iterable[Finding]) -> None:
    """Raise what must not be started with; all of it in one message."""
    wrong = [finding for finding in found if finding.verdict is Verdict.WRONG]
    if wrong:
        told = " ".join(f"{finding.sentence} {finding.advice}".strip() for finding in wrong)
        raise Refused(told, code="ERR_STORE_UNFIT")


async def facts_of(client: Client) -> Facts:
    """What the server says about itself, as far as it lets us ask."""
    facts: dict[str, str] = {}
    info = await _allowed(client, "INFO")
    if isinstance(info, bytes):
        for line in info.decode(errors="replace").splitlines():
            name, separator, value = line.partition(":")
            if separator:
                facts[name] = value.strip()
    for name in ("save", "appendfsync"):
        pair = await _allowed(client, "CONFIG", "GET", name)
        if isinstance(pair, list) and len(pair) == 2:
            facts[f"config.{name}"] = pair[1].decode(errors="replace")
    return facts


def findings(facts: Facts, where: str, *, production: bool) -> list[Finding]:
    """What the facts mean for a queue."""
    if "redis_version" not in facts:
        told = f"{where} does not tell what it is: INFO is not allowed."
        return [_finding(Verdict.WARNING, told, "Allow the user INFO and CONFIG|GET.")]
    risk = Verdict.WRONG if production else Verdict.WARNING
    found = [_version(facts, where), *_mode(facts, where)]
    return [*found, _persistence(facts, where, risk), *_disk(facts, where), _eviction(facts, where, risk)]


def _version(facts: Facts, where: str) -> Finding:
    shown = facts["redis_version"]
    name = f"Valkey {facts['valkey_version']}" if "valkey_version" in facts else f"Redis {shown}"
    parts = tuple(int(part) for part in shown.split(".")[:2] if part.isdigit())
    if parts < VERSION_LEAST:
        least = ".".join(map(str, VERSION_LEAST))
        return _finding(Verdict.WRONG, f"{where} is {name}, which is too old.", f"Use {least} or newer.")
    return _finding(Verdict.OK, f"{where} is {name}.")


def _mode(facts: Facts, where: str) -> list[Finding]:
    """What kind of server it is; nothing to say about a master that stands alone."""
    mode = facts.get("redis_mode", facts.get("server_mode", ""))
    if mode == "cluster" or facts.get("cluster_enabled") == "1":
        told = f"{where} is part of a Redis Cluster, which a queue cannot live on."
        advice = "Use a server with cluster-enabled no; scale with PostgreSQL or more Redis queues."
        return [_finding(Verdict.WRONG, told, advice)]
    if mode == "sentinel":
        told = f"{where} is a Sentinel: it knows where the data is and holds none."
        return [_finding(Verdict.WRONG, told, "Name the master itself, or an address that follows it.")]
    if facts.get("role") == "slave":
        told = f"{where} is a replica and cannot be written."
        return [_finding(Verdict.WRONG, told, "Name the master, or an address that follows it.")]
    return []


def _persistence(facts: Facts, where: str, risk: Verdict) -> Finding:
    advice = "Set appendonly yes and appendfsync everysec."
    if facts.get("aof_enabled") == "1":
        if facts.get("config.appendfsync") == "no":
            told = f"{where} leaves it to the kernel when its log reaches the disk."
            return _finding(Verdict.WARNING, f"{told} A power cut loses the last half minute.", advice)
        return _finding(Verdict.OK, f"{where} writes every change to its log.")
    saves = facts.get("config.save")
    if saves is None:
        told = f"{where} keeps no log, and does not tell whether it takes snapshots."
        return _finding(risk, told, advice)
    if not saves:
        told = f"{where} keeps everything in memory alone: a restart loses every job."
        return _finding(risk, told, advice)
    told = f"{where} takes snapshots only: a crash loses what came since the last one."
    return _finding(Verdict.WARNING, told, advice)


def _disk(facts: Facts, where: str) -> list[Finding]:
    """Persistence that is asked for and fails."""
    names = ("aof_last_write_status", "aof_last_bgrewrite_status", "rdb_last_bgsave_status")
    failing = [name for name in names if facts.get(name, "ok") != "ok"]
    if not failing:
        return []
    told = f"{where} fails to write to its disk ({', '.join(failing)})."
    return [_finding(Verdict.WARNING, told, "Look at the server's log and at the room on its disk.")]


def _eviction(facts: Facts, where: str, risk: Verdict) -> Finding:
    policy = facts.get("maxmemory_policy", "")
    if policy == "noeviction":
        return _finding(Verdict.OK, f"{where} refuses new data when its memory is full, and evicts none.")
    told = f"{where} may throw jobs away when its memory is full (maxmemory-policy {policy or 'unknown'})."
    return _finding(risk, told, "Set maxmemory-policy noeviction.")


def _finding(verdict: Verdict, sentence: str, advice: str = "") -> Finding:
    return Finding(check=CHECK, verdict=verdict, sentence=sentence, advice=advice)


async def _allowed(client: Client, *words: str) -> object:
    """The reply; None where the server does not let us ask, or has renamed the command away."""
    try:
        return await client.call(*words, again=True)
    except Fault as fault:
        if isinstance(fault, Unavailable) and fault.code != "ERR_STORE_SIGN_IN":
            raise
        if not isinstance(fault, Unavailable | Broken):
            raise
        return None
