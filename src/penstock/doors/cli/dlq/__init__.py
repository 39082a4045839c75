"""`penstock dlq`: dead letters, looked at, replayed or removed."""

from penstock.doors.cli.grammar import Noun

command = Noun(
    "dlq",
    help="Look at dead letters, replay or remove them.",
    examples=("penstock dlq list", "penstock dlq replay --error ERR_FILE_NOT_FOUND"),
    members={
        "list": ("penstock.doors.cli.dlq.listing", "list_letters"),
        "show": ("penstock.doors.cli.dlq.listing", "show_letter"),
        "replay": ("penstock.doors.cli.dlq.replaying", "replay"),
        "purge": ("penstock.doors.cli.dlq.purging", "purge"),
    },
)
