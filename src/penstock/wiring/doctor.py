"""What is wrong with a set-up, and what to do: one check after another, none of which changes anything."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from pathlib import Path

from penstock.engines.disk.mounts import kind_of, tells_all_news
from penstock.engines.sqlite.connection import LIBRARY_LEAST
from penstock.engines.sqlite.examining import examine, library
from penstock.engines.system import machine
from penstock.engines.system.clock import SystemClock
from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Fault, Refused, Unavailable
from penstock.settings import Address, Secret, Settings
from penstock.wiring.attendance import attendance
from penstock.wiring.collections import recipe_for
from penstock.wiring.parsers import parser_abilities
from penstock.wiring.sign_in import sign_in_findings
from penstock.wiring.store import open_store
from penstock.wiring.vectors import OLDEST, is_old, open_projection, server_version

FREE_LITTLE = 1 << 30
FREE_NOTHING = 100 << 20
WATCHES_LITTLE = 8192
EXAMINED_SECONDS = 30.0
ENDPOINT_SECONDS = 5.0
SKEW_SECONDS = 60.0

Check = Callable[[Settings], Awaitable[list[Finding]]]


async def examination(settings: Settings, config: Path | None) -> AsyncIterator[Finding]:
    """Every finding, as soon as it is there."""
    for finding in _configuration(config):
        yield finding
    for name, check in CHECKS.items():
        for finding in await _asked(name, check, settings):
            yield finding


async def _asked(name: str, check: Check, settings: Settings) -> list[Finding]:
    """A check that fails is a finding too."""
    try:
        return await check(settings)
    except Fault as fault:
        return [wrong(name, fault.message, " ".join(fault.suggestions))]
    except OSError as error:
        return [wrong(name, f"it cannot be looked at: {error}", "Check owner and mode.")]


def ok(check: str, sentence: str) -> Finding:
    """Nothing to do."""
    return Finding(check=check, verdict=Verdict.OK, sentence=sentence)


def warning(check: str, sentence: str, advice: str) -> Finding:
    """It works, but somebody should know."""
    return Finding(check=check, verdict=Verdict.WARNING, sentence=sentence, advice=advice)


def wrong(check: str, sentence: str, advice: str) -> Finding:
    """It does not work, or not for long."""
    return Finding(check=check, verdict=Verdict.WRONG, sentence=sentence, advice=advice)


def _configuration(config: Path | None) -> list[Finding]:
    if config is None:
        return [ok("configuration", "No file is named; defaults and the environment are in force.")]
    if not config.exists():
        return [
            warning(
                "configuration",
                f"{config} is not there; defaults are in force.",
                "Check --config or PENSTOCK_CONFIG.",
            )
        ]
    return [ok("configuration", f"{config} can be read.")]


async def _programs(_: Settings) -> list[Finding]:
    version, can_search = library()
    found = [ok("python", f"Python {platform.python_version()} on {sys.platform}.")]
    if tuple(map(int, version.split(".")[:2])) < LIBRARY_LEAST or not can_search:
        lacks = "" if can_search else " without FTS5"
        found.append(
            wrong("sqlite", f"SQLite {version}{lacks} is too old.", "Use a Python built with a newer SQLite.")
        )
    else:
        found.append(ok("sqlite", f"SQLite {version}."))
    return found


async def _folder(settings: Settings) -> list[Finding]:
    there = machine.nearest_folder(settings.data)
    is_new = there != settings.data.absolute()
    fault = await asyncio.to_thread(machine.writing_fault, there)
    if fault:
        advice = "Check its owner and mode, or choose another with --data."
        return [wrong("data", f"{there} cannot be written: {fault}.", advice)]
    made = " is not there yet and can be made" if is_new else " can be written"
    return [ok("data", f"{settings.data.absolute()}{made}."), *_disk(there)]


def _disk(there: Path) -> list[Finding]:
    room = machine.room(there)
    free = f"{room.free / (1 << 30):.1f} GiB of {room.total / (1 << 30):.1f} GiB are free"
    if room.free < FREE_NOTHING:
        found = [wrong("disk", f"Only {free}.", "Free some space; waiting jobs go on by themselves.")]
    elif room.free < FREE_LITTLE:
        found = [warning("disk", f"Only {free}.", "Free some space before jobs must wait for it.")]
    else:
        found = [ok("disk", f"{free}.")]
    kind = _file_system(there)
    if tells_all_news(there):
        found.append(ok("file_system", f"The data folder lies on {kind or 'a local file system'}."))
    else:
        found.append(
            warning(
                "file_system",
                f"The data folder lies on {kind or 'an unknown file system'}, which may be shared over a "
                "network: SQLite's locks are not safe there.",
                "Choose a local folder with --data.",
            )
        )
    return found


def _file_system(folder: Path) -> str:
    try:
        lines = Path("/proc/self/mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return ""
    return kind_of(os.path.realpath(folder), lines)


async def _database(settings: Settings) -> list[Finding]:
    found = await asyncio.to_thread(examine, settings.data, seconds=EXAMINED_SECONDS)
    if found is None:
        return [ok("database", "There is no database yet; the first command makes one.")]
    if found.faults:
        told = f"{found.path} is damaged: {found.faults[0]}."
        advice = "Restore the folder from a backup, or try `sqlite3 penstock.db .recover` on a copy."
        return [wrong("database", told, advice)]
    if found.schema > found.known:
        told = f"The database has schema {found.schema}; this program knows {found.known}."
        return [wrong("schema", told, "Upgrade this program, or choose another folder with --data.")]
    findings = [ok("database", f"{found.path} is sound.")]
    if not found.finished:
        told = f"{found.path} is too large to be looked through in {EXAMINED_SECONDS:g} s."
        findings = [warning("database", told, "Run penstock fsck --deep when there is time.")]
    if found.schema < found.known:
        told = f"The database has schema {found.schema}; the next start brings it to {found.known}."
        return [*findings, warning("schema", told, "Copy the stopped data folder first, as a backup.")]
    return [*findings, ok("schema", f"The database has schema {found.schema}, as it should.")]


async def _clock(settings: Settings) -> list[Finding]:
    if not settings.data.is_dir():
        return []
    ahead = await asyncio.to_thread(machine.newest_change, settings.data) - SystemClock().now()
    if ahead > SKEW_SECONDS:
        told = f"Files of the data folder were changed {ahead:.0f} s in the future."
        return [warning("clock", told, "Set this machine's clock, or that of the disk's server.")]
    return [ok("clock", "No file of the data folder comes from the future.")]


async def _sandbox(settings: Settings) -> list[Finding]:
    abilities = await asyncio.to_thread(parser_abilities)
    if abilities.strict:
        return [ok("sandbox", f"Parsers are shut in: {abilities.words}.")]
    if settings.parser.sandbox == "strict":
        told = f"parser.sandbox is strict, and the kernel offers {abilities.words}: nothing can be parsed."
        return [wrong("sandbox", told, "Use a kernel with Landlock and seccomp, or another parser.sandbox.")]
    told = f"Parsers are shut in only in part: {abilities.words}."
    return [warning("sandbox", told, "Use a kernel with Landlock and seccomp for files you do not trust.")]


async def _model(settings: Settings) -> list[Finding]:
    if settings.embedder.is_url:
        return [await _endpoint("embedder", settings.embedder, settings.embedding.api_key)]
    from penstock.engines.minilm.weights import SHA256, read_weights

    await asyncio.to_thread(read_weights)
    return [ok("model", f"The bundled model is there and whole (sha256 {SHA256[:12]}…).")]


async def _recipes(settings: Settings) -> list[Finding]:
    found = []
    for name, declared in settings.collections.items():
        try:
            recipe_for(settings, declared.recipe, place=f"collections.{name}.recipe.")
        except Refused as refused:
            advice = "Give fewer tokens, or an embedder whose model takes more."
            found.append(wrong("recipes", f"{refused.message}: nothing can be ingested there.", advice))
    return found


async def _answerer(settings: Settings) -> list[Finding]:
    if not settings.answerer.is_url:
        return [ok("answerer", "Answers are quoted from the documents; no language model is configured.")]
    return [await _endpoint("answerer", settings.answerer, settings.answering.api_key)]


async def _endpoint(name: str, address: Address, key: Secret | None) -> Finding:
    """Whether it lists its models to us; some that work have no such list, so that is a warning."""
    from penstock.engines.openai import Endpoint, Role

    role = Role.EMBEDDER if name == "embedder" else Role.ANSWERER
    endpoint = Endpoint(
        role,
        address.reveal(),
        clock=SystemClock(),
        timeout=ENDPOINT_SECONDS,
        key=None if key is None else key.reveal(),
    )
    try:
        status = await endpoint.status()
    except Unavailable as fault:
        told = f"{address}: {fault.message}."
        return wrong(name, told, f"Check {name} in the configuration and that the server runs.")
    finally:
        await endpoint.close()
    if status in (401, 403):
        return wrong(name, f"{address} refuses the key.", f"Check {role}.api_key.")
    if status >= 300:
        told = f"{address} answers, but with status {status} where it should list its models."
        return warning(name, told, f"Check {name} in the configuration, unless it has no such list.")
    return ok(name, f"{address} answers.")


async def _redis(settings: Settings) -> list[Finding]:
    # Late: its parser is an extra, and most set-ups have no Redis.
    from penstock.wiring.redis import redis_findings

    return await redis_findings(settings)


async def _vectors(settings: Settings) -> list[Finding]:
    """Whether the server answers, and holds what it should; no database is made or migrated for it."""
    if not settings.vectors.is_url:
        return []
    version = await server_version(settings)
    if is_old(version):
        asked = ".".join(map(str, OLDEST))
        told = f"{settings.vectors} is Qdrant {version}; {asked} or newer is asked for."
        return [wrong("vectors", told, "Run a newer server; it reads the old one's data.")]
    found = await asyncio.to_thread(examine, settings.data, seconds=0.0)
    if found is None or found.schema != found.known:
        return [ok("vectors", f"{settings.vectors} answers.")]
    async with open_store(settings) as store, open_projection(settings, store.manifest) as projection:
        points, chunks = (0, 0) if projection is None else await projection.coverage()
    if points < chunks:
        told = f"{settings.vectors} holds {points:,} vectors where at least {chunks:,} are due."
        return [warning("vectors", told, "Put them there from the database: penstock fsck --repair.")]
    return [ok("vectors", f"{settings.vectors} answers and holds {points:,} vectors.")]


async def _address(settings: Settings) -> list[Finding]:
    """Whether the API could be served where it should be, or is already."""
    host, port = settings.http.host, settings.http.port
    fault = await asyncio.to_thread(machine.listening_fault, host, port)
    if fault is None:
        return [ok("http", f"{host}:{port} is free for the API.")]
    is_taken, why = fault
    if not is_taken:
        told = f"{host}:{port} cannot be listened on: {why}."
        return [wrong("http", told, "Choose another with http.host and http.port.")]
    described = await asyncio.to_thread(
        partial(machine.answer_of, host, port, "/api/openapi.json", seconds=ENDPOINT_SECONDS)
    )
    if b'"Penstock"' in described:
        return [ok("http", f"A Penstock answers at {host}:{port}.")]
    told = f"Another program listens at {host}:{port}, and it does not answer as Penstock does."
    return [warning("http", told, "Stop it, or choose another port with --port or http.port.")]


async def _sign_in(settings: Settings) -> list[Finding]:
    return await sign_in_findings(settings, SystemClock())


async def _watching(settings: Settings) -> list[Finding]:
    found = []
    for name, collection in settings.collections.items():
        for source in collection.sources:
            fault = None if os.access(source.path, os.R_OK | os.X_OK) else "cannot be read or is not there"
            if fault:
                told = f"{source.path}, a source of {name}, {fault}."
                found.append(warning("sources", told, "Check the path, its owner and its mode."))
    limits = machine.inotify_limits()
    watches = limits.get("max_user_watches", 0)
    if not limits:
        told = "This system has no inotify: folders are looked through again and again."
        found.append(warning("inotify", told, "Expect changes to be noticed late."))
    elif watches < WATCHES_LITTLE:
        told = f"Only {watches:,} folders can be watched by one user; others are looked through."
        found.append(warning("inotify", told, "Raise fs.inotify.max_user_watches."))
    else:
        found.append(ok("inotify", f"{watches:,} folders can be watched."))
    return found


async def _attendance(settings: Settings) -> list[Finding]:
    """What only the open store knows; not opened where that would make or migrate it."""
    found = await asyncio.to_thread(examine, settings.data, seconds=0.0)
    if found is None or found.schema != found.known:
        return []
    async with open_store(settings) as store:
        return await attendance(store, settings)


CHECKS: dict[str, Check] = {
    "programs": _programs,
    "data": _folder,
    "database": _database,
    "clock": _clock,
    "sandbox": _sandbox,
    "model": _model,
    "recipes": _recipes,
    "answerer": _answerer,
    "redis": _redis,
    "vectors": _vectors,
    "http": _address,
    "sign_in": _sign_in,
    "watching": _watching,
    "queue": _attendance,
}
"""Every check, in the order in which a person reads them."""
