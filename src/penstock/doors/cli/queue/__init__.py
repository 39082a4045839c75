"""`penstock queue`: look at the queue and take it in hand."""

from penstock.doors.cli.grammar import Noun

command = Noun(
    "queue",
    help="Look at the queue and take it in hand.",
    examples=("penstock queue status", "penstock queue list --state failed", "penstock queue explain JOB"),
    members={
        "status": ("penstock.doors.cli.queue.status", "status"),
        "list": ("penstock.doors.cli.queue.listing", "list_jobs"),
        "show": ("penstock.doors.cli.queue.showing", "show"),
        "explain": ("penstock.doors.cli.queue.showing", "explain"),
        "submit": ("penstock.doors.cli.queue.submitting", "submit"),
        "retry": ("penstock.doors.cli.queue.retrying", "retry"),
        "cancel": ("penstock.doors.cli.queue.cancelling", "cancel"),
        "pause": ("penstock.doors.cli.queue.pausing", "pause"),
        "resume": ("penstock.doors.cli.queue.pausing", "resume"),
        "clean": ("penstock.doors.cli.queue.cleaning", "clean"),
        "dlq": ("penstock.doors.cli.queue.letters", "dlq"),
    },
)
