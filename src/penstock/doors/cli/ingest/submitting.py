"""`penstock ingest submit`: files, folders, globs, text, projects and addresses, all of them or none."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import click

from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.ingest import paths
from penstock.doors.cli.ingest.following import Outlook
from penstock.doors.cli.ingest.items import item_of, plan_of, size_in, tell_next, to_follow
from penstock.doors.cli.ingest.oversights import Oversights
from penstock.doors.cli.ingest.piped import kind_of
from penstock.doors.cli.ingest.shapes import Handed, ItemFacts, Refusals, WaitFacts
from penstock.doors.cli.ingest.swapping import documents_in, swap_sentence, wait_for_swap, would_be_built
from penstock.doors.cli.ingest.waiting import facts_of, left_of, tell_end, wait
from penstock.doors.cli.session import Begins, with_store
from penstock.doors.cli.values import duration, pair, text
from penstock.doors.cli.words import plural
from penstock.doors.streams import silence
from penstock.model.errors import Refused
from penstock.model.jobs import priority_of
from penstock.model.options import Options
from penstock.model.payloads import Content, File, Folder, Library, Project

if TYPE_CHECKING:
    from penstock.model.catalogue import Collection, GenerationId
    from penstock.model.jobs import JobId
    from penstock.settings import Settings
    from penstock.wiring.intake import Request
    from penstock.wiring.store import Store

STDIN = "-"
FILE_PRIORITY = 9
"""A command of a person, by the guideline."""
WAITED_PRIORITY = 10
"""Someone is waiting."""
FOLDER_PRIORITY = 3
LIBRARY_PRIORITY = 1
REBUILT = "{name} is rebuilt beside the index that answers; to see how far: penstock collection show {name}"
KEPT = "by its recreation_policy, {policy}, what {name} has stays; nothing is built anew"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What a submit was asked for."""

    collection: str
    paths: Sequence[str]
    texts: Sequence[str]
    urls: Sequence[str]
    projects: Sequence[str]
    name: str | None
    version: str
    meta: Sequence[tuple[str, object]]
    priority: str | None
    patterns: Sequence[str]
    ignore: Sequence[str]
    depth: int | None
    reindex: bool
    skip_validation: bool
    no_preserve_metadata: bool
    wait: bool
    timeout: float | None
    quiet: bool
    dry_run: bool


@verb(
    "submit",
    examples=(
        "penstock ingest submit --rag handbook --path policies.pdf --wait",
        "penstock ingest submit --rag handbook --path docs/ --pattern '*.md'",
        "penstock ingest submit --rag notes --path 'reports/**/*.pdf' --dry-run",
        "date | penstock ingest submit --rag notes --path - --name today",
    ),
    shape=Handed,
    notes=(
        "Piped, a line is the id of a job; in a dry run it is kind, name and size.",
        "Everything is looked at first, and nothing is submitted if anything is wrong.",
        "What cannot be read in a folder is told as `left out`, with why, by a dry run and with `--wait`; it "
        "changes nothing about how the command ends.",
        "Files get priority 9, or 10 with `--wait`; folders and projects 3; addresses 1.",
        "With `--wait` it ends with 0 only if everything was ingested, with 2 if anything failed and with 5 "
        "if `--timeout` was over before; what has not ended then stays queued.",
        "`--reindex` also rebuilds the whole collection beside the one that answers, unless its "
        "`recreation_policy` is to leave what is there; `--wait` then waits for the new index too, and it "
        "ends with 2 if that is given up.",
        "Through a server folders and projects are read here by the same rules and their files sent; what "
        "the server refuses is told, the others are taken in, and it ends with 1.",
        "Through a server `--wait` waits for the documents alone; the rebuild goes on there.",
        "A server fetches no addresses for others: store what `--url` names as a file and hand that in.",
    ),
)
@click.option("--rag", "collection", type=text, required=True, metavar="NAME", help="Collection it goes to.")
@click.option(
    "--path", "paths", type=text, multiple=True, help="File, folder or glob; - reads text from stdin."
)
@click.argument("more", nargs=-1, type=text, metavar="[PATH]...")
@click.option("--text", "texts", type=text, multiple=True, help="Text itself.")
@click.option("--url", "urls", type=text, multiple=True, help="Address of a document, http or https.")
@click.option("--project", "projects", type=text, multiple=True, help="Folder of a project, git-aware.")
@click.option("--name", type=text, help="Name of the text or of what --url names.")
@click.option("--version", default="", help="Version of what --url names.")
@click.option("--meta", type=pair, multiple=True, metavar="KEY=VALUE", help="Kept with each document.")
@click.option("--pattern", "patterns", type=text, multiple=True, help="Of folders, only files like this.")
@click.option("--ignore", type=text, multiple=True, help="Of folders, no files like this.")
@click.option("--depth", type=click.IntRange(0, 64), metavar="N", help="Levels of a folder; 0 enters none.")
@click.option("--priority", type=text, help="0 to 10, or high, normal, low.")
@click.option(
    "--reindex", is_flag=True, help="Rebuild the whole collection as well, as its recreation_policy says."
)
@click.option("--skip-validation", is_flag=True, help="Take of damaged files what can still be read.")
@click.option("--no-preserve-metadata", is_flag=True, help="Drop the metadata documents have already.")
@click.option("--wait", is_flag=True, help="Stay until everything has ended.")
@click.option("--timeout", type=duration, metavar="DURATION", help="Wait no longer than this.")
@click.option("--quiet", is_flag=True, help="Say nothing but ids and failures.")
@dry_run
@click.pass_obj
def submit(given: Given, /, more: Sequence[str], **words: Any) -> int:
    """Hand in documents and print the ids of their jobs."""
    call = call_of(more, words)
    work = _Submit(given, call)
    try:
        return with_store(given, work.run, begins=Begins.IF_DECLARED, rehearses=call.dry_run)
    except KeyboardInterrupt:
        return work.interrupted()


def call_of(more: Sequence[str], words: dict[str, Any]) -> Call:
    """The words of the command line, checked as far as they can be by themselves."""
    call = Call(**{**words, "paths": (*words["paths"], *more)})
    if not (call.paths or call.texts or call.urls or call.projects):
        raise click.UsageError("say what to hand in: --path, --text, --url or --project")
    if call.timeout is not None and not call.wait:
        raise click.UsageError("--timeout goes with --wait")
    return call


class Submission:
    """One call, and what it has come to; kept so that Ctrl-C can still tell."""

    def __init__(self, given: Given, call: Call) -> None:
        self._given = given
        self._call = call
        self._items: list[ItemFacts] = []
        self._overlooked = Oversights()
        self._seen: Outlook | None = None
        """How far it was at the last look of somebody who waits."""
        self._reindexing = call.reindex
        """Whether the collection is built anew; a server is only asked for it."""
        self._rebuilt: WaitFacts | None = None
        """What became of that while somebody waited."""

    def interrupted(self) -> int:
        """Ctrl-C: what was accepted stays, and the person is told how to go on."""
        if not self._items:
            raise KeyboardInterrupt
        if self._seen is not None and self._seen.is_over and self._reindexing:
            return self._interrupted_rebuild(self._seen)
        jobs = [item["job_id"] for item in self._items if item["job_id"]]
        outlook = self._seen or Outlook(total=len(jobs), done=0, failed=0, is_over=False)
        if self._given.as_json:
            self.show(facts_of(outlook, "interrupted"))
        if not jobs:  # a server had them all already
            output.talk("interrupted; nothing is left to do")
            return Exit.INTERRUPTED
        output.talk(f"interrupted; {left_of(outlook)}; {to_follow(len(jobs))}:")
        output.talk(f"  penstock ingest status --job {jobs[0]} --follow")
        return Exit.INTERRUPTED

    def _interrupted_rebuild(self, seen: Outlook) -> int:
        """The documents have all ended; only their collection's new index was still waited for."""
        if self._given.as_json:
            self.show(facts_of(seen, "interrupted"))
        name = self._call.collection
        output.talk(f"interrupted; the rebuild of {name} goes on, see: penstock collection show {name}")
        return Exit.INTERRUPTED

    def _note(self, outlook: Outlook) -> None:
        self._seen = outlook

    def show(self, found: WaitFacts | None) -> None:
        """Print what was handed in, and what became of it where somebody waited."""
        call = self._call
        if self._given.as_json:
            output.document(
                Handed(
                    collection=call.collection,
                    items=self._items,
                    overlooked=self._overlooked.facts(),
                    reindexing=self._reindexing,
                    wait=found,
                    rebuilt=self._rebuilt,
                    dry_run=call.dry_run,
                    **self._more(),
                )
            )
        elif call.dry_run:
            output.table((item["kind"], item["name"], size_in(item)) for item in self._items)
            output.talk(f"{plural(len(self._items), 'job')} would be submitted; nothing was changed")
        elif found is not None:
            tell_end(found, quiet=call.quiet)
            self._tell_swap()
        elif not call.quiet:
            tell_next(self._items)

    def _tell_swap(self) -> None:
        rebuilt = self._rebuilt
        if rebuilt is not None and not (self._call.quiet and rebuilt["end"] == "ended"):
            output.talk(swap_sentence(self._call.collection, rebuilt))

    def _more(self) -> Refusals:
        """What else there is to tell in the document."""
        return {}


class _Submit(Submission):
    """One on this machine."""

    async def run(self, store: Store, settings: Settings) -> int:
        """Look, submit, and wait if asked to."""
        from penstock.wiring.collections import sound_collection
        from penstock.wiring.intake import file_bytes_max, submit_all

        call = self._call
        collection = await sound_collection(store, settings, call.collection)
        largest = file_bytes_max(settings, collection)
        requests = requests_of(call, settings, file_bytes_max=largest)
        options = _options(call)
        if call.dry_run:
            await self._rehearse(store, settings, collection, requests)
            return Exit.OK
        generation = await self._reindex(store, settings, collection) if call.reindex else None
        admitted = await submit_all(store, settings, call.collection, requests, options)
        self._items = [item_of(request, each) for request, each in zip(requests, admitted, strict=True)]
        if not self._given.as_json:
            print_ids(self._items)
        if not call.wait:
            self.show(None)
            return Exit.OK
        found, code = await self._followed(store, [each.job for each in admitted], generation)
        await self._overlooked.add_found(store, (each.job for each in admitted))
        self._overlooked.tell()
        self.show(found)
        return code

    async def _rehearse(
        self, store: Store, settings: Settings, collection: Collection, requests: Sequence[Request]
    ) -> None:
        """Say what would be done."""
        from penstock.wiring.collections import policy_of

        counts = await store.catalogue.counts(collection.id)
        policy = policy_of(settings, collection)
        self._reindexing = self._call.reindex and policy.rebuilds(counts["visible"])
        self._items = await plan_of(requests, settings, self._overlooked)
        self._overlooked.tell()
        if self._call.reindex:
            told = would_be_built(collection.name, documents_in(counts))
            output.talk(told if self._reindexing else KEPT.format(name=collection.name, policy=policy))
        self.show(None)

    async def _reindex(self, store: Store, settings: Settings, collection: Collection) -> GenerationId | None:
        """Have the collection built anew; the generation that fills, None where its policy is against it."""
        from penstock.wiring.collections import policy_of, reindex

        generation = await reindex(store, settings, collection)
        self._reindexing = generation is not None
        if not self._call.quiet:
            told = REBUILT if self._reindexing else KEPT
            output.talk(told.format(name=collection.name, policy=policy_of(settings, collection)))
        return None if generation is None else generation.id

    async def _followed(
        self, store: Store, jobs: Sequence[JobId], generation: GenerationId | None
    ) -> tuple[WaitFacts, Exit]:
        """Wait for the jobs, then for the index being built, all within the one time."""
        call, began = self._call, time.monotonic()
        found, code = await wait(store, jobs, timeout=call.timeout, quiet=call.quiet, seen=self._note)
        if generation is None:
            return found, code
        left = None if call.timeout is None else call.timeout - (time.monotonic() - began)
        self._rebuilt, swapped = await wait_for_swap(
            store, call.collection, generation, timeout=left, quiet=call.quiet
        )
        return found, max(code, swapped)  # time that is over counts more than failures, as everywhere


def requests_of(call: Call, settings: Settings, *, file_bytes_max: int) -> list[Request]:
    """Everything that was named, looked at; Refused with all that is wrong with it."""
    from penstock.wiring.intake import Request

    typed = [path for path in call.paths if path != STDIN]
    seen = paths.look(typed, file_bytes_max=file_bytes_max, files_max=settings.limits.folder_files)
    chosen = None if call.priority is None else priority_of(call.priority)
    direct = chosen if chosen is not None else WAITED_PRIORITY if call.wait else FILE_PRIORITY
    background = FOLDER_PRIORITY if chosen is None else chosen
    found = [
        Request(payload=File(file_path=path), name=path, priority=direct, size=count)
        for path, count in seen.files.items()
    ]
    found += [Request(payload=folder_of(call, path), name=path, priority=background) for path in seen.folders]
    texts = [*call.texts, *([text_of_stdin(settings.limits.payload_bytes)] if STDIN in call.paths else [])]
    for content in texts:
        payload = Content(content=content, source_type="cli", main_tag=call.name)
        name = call.name or "text"
        found.append(Request(payload=payload, name=name, priority=direct, size=len(content.encode())))
    for typed_root in call.projects:
        root = paths.folder(typed_root)
        found.append(Request(payload=Project(project_root=root), name=root, priority=background))
    for url in call.urls:
        lowest = LIBRARY_PRIORITY if chosen is None else chosen
        found.append(Request(payload=_library(call, url), name=url, priority=lowest))
    return found


def folder_of(call: Call, path: str) -> Folder:
    """A folder with what was said about all of them."""
    usual = Folder(folder_path=path, patterns=tuple(call.patterns), ignore_patterns=tuple(call.ignore))
    if call.depth is None:
        return usual
    return replace(usual, recursive=call.depth > 0, recursive_depth=call.depth)


def _library(call: Call, url: str) -> Library:
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web:
        raise Refused(f"{url[:200]} is no http or https address", code="ERR_URL_INVALID")
    if call.name is not None and len(call.urls) > 1:
        raise click.UsageError("--name names one thing; hand addresses in one by one")
    name = call.name or f"{parts.hostname}{parts.path}".rstrip("/")
    return Library(library_name=name, library_version=call.version, source_url=url)


def text_of_stdin(bytes_max: int, limit: str = "limits.payload_bytes") -> str:
    """What comes on stdin; Refused where it is no text, or longer than the limit of this name."""
    if sys.stdin is None:
        raise click.UsageError("there is no stdin to read from")
    if sys.stdin.isatty():
        output.talk("reading text; Ctrl-D ends")
    data = sys.stdin.buffer.read(bytes_max + 1)
    if (kind := kind_of(data)) is not None:
        raise click.UsageError(f"stdin takes text, and this is {kind}: store it as a file and name its path")
    if len(data) > bytes_max:
        raise Refused(
            f"stdin holds more than {bytes_max:,} bytes, which is {limit}; store it as a file and name that",
            code="ERR_PAYLOAD_TOO_LARGE",
        )
    try:
        content = data.decode()
    except UnicodeDecodeError as error:
        raise Refused(f"stdin is not UTF-8 at byte {error.start}", code="ERR_TEXT_ENCODING") from error
    if not content.strip():
        raise Refused("stdin holds no text", code="ERR_FILE_EMPTY")
    return content


def _options(call: Call) -> Options:
    return Options(
        skip_validation=call.skip_validation,
        preserve_metadata=not call.no_preserve_metadata,
        document=metadata_of(call.meta),
    )


def metadata_of(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Pairs as an object; each key once."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise click.BadParameter(f"{key!r} is given twice", param_hint="--meta")
        found[key] = value
    return found


def print_ids(items: Sequence[ItemFacts]) -> None:
    """The ids of the jobs, a line each."""
    try:
        output.lines((item["job_id"],) for item in items)
        output.flush()
    except BrokenPipeError:
        silence(sys.stdout)  # nobody reads the ids; the jobs are wanted all the same
