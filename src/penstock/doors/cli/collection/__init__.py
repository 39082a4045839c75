"""`penstock collection`: the bodies of documents that are searched as one."""

from penstock.doors.cli.grammar import Noun

command = Noun(
    "collection",
    help="Look at collections, make and delete them.",
    examples=("penstock collection list", "penstock collection create handbook"),
    members={
        "list": ("penstock.doors.cli.collection.listing", "list_collections"),
        "create": ("penstock.doors.cli.collection.creating", "create"),
        "show": ("penstock.doors.cli.collection.showing", "show"),
        "delete": ("penstock.doors.cli.collection.deleting", "delete"),
    },
)
