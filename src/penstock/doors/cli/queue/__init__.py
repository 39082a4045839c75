"""`penstock queue`: look at the queue and take it in hand."""

from penstock.doors.cli.grammar import Noun
from penstock.doors.cli.queue.cancelling import cancel
from penstock.doors.cli.queue.cleaning import clean
from penstock.doors.cli.queue.letters import dlq
from penstock.doors.cli.queue.listing import list_jobs
from penstock.doors.cli.queue.pausing import pause, resume
from penstock.doors.cli.queue.retrying import retry
from penstock.doors.cli.queue.showing import explain, show
from penstock.doors.cli.queue.status import status
from penstock.doors.cli.queue.submitting import submit

command = Noun(
    "queue",
    help="Look at the queue and take it in hand.",
    examples=("penstock queue status", "penstock queue list --state failed", "penstock queue explain JOB"),
    commands=[status, list_jobs, show, explain, submit, retry, cancel, pause, resume, clean, dlq],
)
