"""By what the vector of a text is remembered, beside the model: the text, and whose it is.

Who saw that a text needs no embedding would learn that another tenant has it; so tenants share no vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256

from penstock.model.catalogue import LOCAL_TENANT
from penstock.model.chunks import text_key
from penstock.model.jobs import TenantId


def vector_key(key: bytes, tenant: TenantId) -> bytes:
    """The key of a tenant's text, by the key of the text itself."""
    return key if tenant == LOCAL_TENANT else sha256(f"{tenant}\0".encode() + key).digest()


def vector_keys(headings: Sequence[str], text: str, tenant: TenantId) -> Iterator[bytes]:
    """Every key a chunk's vector may have: some of its headings stand before its text, one after another."""
    for last in range(len(headings), 0, -1):
        for first in range(last):
            yield vector_key(text_key("\n".join((*headings[first:last], text))), tenant)
    yield vector_key(text_key(text), tenant)
