"""`penstock collection`: the bodies of documents that are searched as one."""

from penstock.doors.cli.collection.creating import create
from penstock.doors.cli.collection.deleting import delete
from penstock.doors.cli.collection.listing import list_collections
from penstock.doors.cli.collection.showing import show
from penstock.doors.cli.grammar import Noun

command = Noun(
    "collection",
    help="Look at collections, make and delete them.",
    examples=("penstock collection list", "penstock collection create handbook"),
    commands=[list_collections, create, show, delete],
)
