"""The client: a Penstock server in a few words, for programs that run elsewhere.

It knows the server by its HTTP API and its events alone, and imports nothing else of the package.
"""

from penstock.client.errors import PenstockError
from penstock.client.events import Event, Passing, Resync
from penstock.client.files import Sendable
from penstock.client.penstock import Penstock
from penstock.client.subscription import Subscription
from penstock.client.talk import Delta
from penstock.client.wishes import Wishes

__all__ = [
    "Delta",
    "Event",
    "Passing",
    "Penstock",
    "PenstockError",
    "Resync",
    "Sendable",
    "Subscription",
    "Wishes",
]
