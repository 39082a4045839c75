"""A certificate for docs.example that nobody trusts but these tests; good for a hundred years."""

import ssl
from pathlib import Path

CERTIFICATE = """-----BEGIN CERTIFICATE-----
MIIBrTCCAVSgAwIBAgIUZkzwEJ272plwzfs7A6/0Nu+bnEkwCgYIKoZIzj0EAwIw
FzEVMBMGA1UEAwwMZG9jcy5leGFtcGxlMCAXDTI2MTExNjAxMzUyNloYDzIxMjYx
MDIzMDEzNTI2WjAXMRUwEwYDVQQDDAxkb2NzLmV4YW1wbGUwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAASSvCuYgJ431no/CueTYipSxqIfpVe2daJk2XaaVXW2IJC0
G4Ly0KQvPo/tBxzQNbVhXKT5RDG2A4CgQ1j9cR3ho3wwejAdBgNVHQ4EFgQUAET9
Q6aX174jugF3zMemW11t2T8wHwYDVR0jBBgwFoAUAET9Q6aX174jugF3zMemW11t
2T8wFwYDVR0RBBAwDoIMZG9jcy5leGFtcGxlMA8GA1UdEwEB/wQFMAMBAf8wDgYD
VR0PAQH/BAQDAgKEMAoGCCqGSM49BAMCA0cAMEQCIDPVCDZvs3Hk31i8SOLfC395
ZlW3I7osuO4QuJH1el9nAiA9o0ekVzRtywkOfQSrhiPh3vG2vD1ADTx5eIuVaU3v
lA==
-----END CERTIFICATE-----
"""

KEY = """-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgyqvf2aHs/58I6dJH
l4+h++soD1r68RgANMZqQVg3+tahRANCAASSvCuYgJ431no/CueTYipSxqIfpVe2
daJk2XaaVXW2IJC0G4Ly0KQvPo/tBxzQNbVhXKT5RDG2A4CgQ1j9cR3h
-----END PRIVATE KEY-----
"""


def serving(folder: Path) -> ssl.SSLContext:
    """What a server that shows the certificate needs."""
    path = folder / "server.pem"
    path.write_text(CERTIFICATE + KEY)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def trusting() -> ssl.SSLContext:
    """What a client needs to trust this certificate, and no other."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(cadata=CERTIFICATE)
    return context
