"""What messages and produced files are checked against: the collections there are, and their folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from penstock.intake.messages import Declared, Place, translate
from penstock.model.catalogue import LOCAL_TENANT, Collection, WorkspaceId
from penstock.model.jobs import PRIORITY_NAMES, NewJob, TenantId
from penstock.model.messages import Refusal, Terms
from penstock.model.priorities import ranks_of
from penstock.settings import Settings
from penstock.wiring.collections import declare_all
from penstock.wiring.store import Store, newcomers_of
from penstock.wiring.watching import folders_of

Translator = Callable[[bytes, str], NewJob | Refusal]
"""A message and the list it came by become a job, or a reason why not."""


async def declared_by(store: Store, settings: Settings) -> Declared:
    """Every collection of the local workspace; those the configuration names are made if need be."""
    collections = await declare_all(store, settings)
    return _declared(settings, collections, await store.register.tenants())


def scan_root(settings: Settings) -> Path | None:
    """The producer's folder by its absolute path, if there is one."""
    folder = settings.producer.scan_dir
    return None if folder is None else Path(os.path.abspath(folder))


def terms_of(settings: Settings) -> Terms:
    """What a message is measured by."""
    return Terms(
        bytes_max=settings.limits.payload_bytes,
        max_retries=settings.worker.max_retries,
        priorities=ranks_of(settings.worker.priorities),
    )


def translator(settings: Settings, declared: Callable[[], Declared]) -> Translator:
    """Reads messages by what is declared when they come; the list a message came by tells its priority."""
    terms = terms_of(settings)
    lists = {settings.worker.queues[name]: rank for name, rank in terms.priorities.items()}

    def read(data: bytes, origin: str) -> NewJob | Refusal:
        return translate(
            data,
            declared(),
            terms=terms,
            priority=lists.get(origin, PRIORITY_NAMES["normal"]),
            metadata_bytes_max=settings.limits.metadata_bytes,
        )

    return read


def _declared(
    settings: Settings, collections: Sequence[Collection], tenants: Mapping[TenantId, WorkspaceId]
) -> Declared:
    folders, scanned = folders_of(settings), scan_root(settings)
    return Declared(
        places=tuple(
            Place(
                collection=each.name,
                tenant=LOCAL_TENANT,
                workspace=each.workspace,
                incoming=str(folders.incoming(each.name)),
                sources=_sources(settings, each.name),
            )
            for each in collections
        ),
        roots=() if scanned is None else (str(scanned),),
        default=settings.producer.collection,
        tenants=tenants,
        newcomers=newcomers_of(settings),
    )


def _sources(settings: Settings, collection: str) -> tuple[str, ...]:
    declared = settings.collections.get(collection)
    return () if declared is None else tuple(str(source.path) for source in declared.sources)
