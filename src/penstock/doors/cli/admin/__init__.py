"""`penstock admin`: what the worker contract's operators ask of a queue."""

from penstock.doors.cli.admin.bench import bench
from penstock.doors.cli.admin.purging import purge_all, purge_dlq
from penstock.doors.cli.admin.stats import peek, stats, stats_keys
from penstock.doors.cli.grammar import Noun

command = Noun(
    "admin",
    help="Look into the lists and keys of a queue, empty or measure it.",
    examples=("penstock admin stats", "penstock admin peek --queue high", "penstock admin purge-dlq --yes"),
    commands=[stats, stats_keys, peek, purge_dlq, purge_all, bench],
)
