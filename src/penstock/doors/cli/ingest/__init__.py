"""`penstock ingest`: documents in, and how far they are."""

from penstock.doors.cli.grammar import Noun
from penstock.doors.cli.ingest.deleting import delete
from penstock.doors.cli.ingest.listing import list_documents
from penstock.doors.cli.ingest.reindexing import reindex
from penstock.doors.cli.ingest.retrying import retry
from penstock.doors.cli.ingest.status import status
from penstock.doors.cli.ingest.submitting import submit

command = Noun(
    "ingest",
    help="Hand in documents and see how far they are.",
    examples=(
        "penstock ingest submit --rag handbook --path policies.pdf --wait",
        "penstock ingest list --state error",
        "penstock ingest status --job JOB --follow",
    ),
    commands=[submit, status, list_documents, reindex, retry, delete],
)
