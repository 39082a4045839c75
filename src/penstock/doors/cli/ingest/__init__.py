"""`penstock ingest`: documents in, and how far they are."""

from penstock.doors.cli.grammar import Noun

command = Noun(
    "ingest",
    help="Hand in documents and see how far they are.",
    examples=(
        "penstock ingest submit --rag handbook --path policies.pdf --wait",
        "penstock ingest list --state error",
        "penstock ingest status --job JOB --follow",
    ),
    members={
        "submit": ("penstock.doors.cli.ingest.submitting", "submit"),
        "status": ("penstock.doors.cli.ingest.status", "status"),
        "list": ("penstock.doors.cli.ingest.listing", "list_documents"),
        "reindex": ("penstock.doors.cli.ingest.reindexing", "reindex"),
        "retry": ("penstock.doors.cli.ingest.retrying", "retry"),
        "delete": ("penstock.doors.cli.ingest.deleting", "delete"),
    },
)
