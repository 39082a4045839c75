"""Bytes of uploads are held while their neighbours are still being sent."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.intake.arrivals import Arrivals, Counting
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE, DebtKind
from penstock.model.errors import Refused
from penstock.settings import load
from penstock.wiring.store import open_store


async def pieces(*data: bytes) -> AsyncIterator[bytes]:
    for each in data:
        yield each


@pytest.mark.parametrize("breaks_off", [False, True])
async def test_what_is_sent_stays_until_the_request_ends(tmp_path: Path, breaks_off: bool) -> None:
    """One that breaks off leaves its bytes to be freed; one that ends well has taken them in."""
    settings = load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})
    async with open_store(settings) as store:
        code, blob = "", None
        try:
            counting = Counting(store.reception)
            blobs = DiskBlobs(tmp_path / "blobs")
            async with Arrivals(store, blobs, LOCAL_WORKSPACE, counting) as arrivals:
                sent = await arrivals.keep(pieces(b"some ", b"text"), name="c:\\a.txt", limit=100)
                blob = sent.blob
                held = await store.catalogue.blob_in_use(blob)
                if breaks_off:
                    await arrivals.keep(pieces(), name="b.txt", limit=100)
        except Refused as refused:
            code = refused.code
        after = await store.catalogue.blob_in_use(blob) if blob else None
        told = [
            (each.type, json.loads(each.payload_json)) for each in await store.events_after(LOCAL_USER, 0)
        ]
        debts = await store.catalogue.take_debts([DebtKind.FREE_BLOB], "payer")

    assert (sent.name, sent.size, held) == ("a.txt", 9, True)
    assert code == ("ERR_FILE_EMPTY" if breaks_off else "")
    assert after is not breaks_off
    assert [debt.about for debt in debts] == ([blob] if breaks_off else [])
    ends = [(event["status"], event["error_code"]) for kind, event in told if kind == "upload.status_updated"]
    assert ends == ([("failed", "ERR_FILE_EMPTY")] * 2 if breaks_off else [])
    begun = [event["upload"]["name"] for kind, event in told if kind == "upload.created"]
    assert begun == ["a.txt", "b.txt"][: 2 if breaks_off else 1]
