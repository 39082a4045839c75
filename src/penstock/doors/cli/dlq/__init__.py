"""`penstock dlq`: dead letters, looked at, replayed or removed."""

from penstock.doors.cli.dlq.listing import list_letters, show_letter
from penstock.doors.cli.dlq.purging import purge
from penstock.doors.cli.dlq.replaying import replay
from penstock.doors.cli.grammar import Noun

command = Noun(
    "dlq",
    help="Look at dead letters, replay or remove them.",
    examples=("penstock dlq list", "penstock dlq replay --error ERR_FILE_NOT_FOUND"),
    commands=[list_letters, show_letter, replay, purge],
)
