"""`penstock admin`: what the worker contract's operators ask of a queue."""

from penstock.doors.cli.grammar import Noun

command = Noun(
    "admin",
    help="Look into the lists and keys of a queue, empty or measure it.",
    examples=("penstock admin stats", "penstock admin peek --queue high", "penstock admin purge-dlq --yes"),
    members={
        "stats": ("penstock.doors.cli.admin.stats", "stats"),
        "stats-keys": ("penstock.doors.cli.admin.stats", "stats_keys"),
        "peek": ("penstock.doors.cli.admin.stats", "peek"),
        "purge-dlq": ("penstock.doors.cli.admin.purging", "purge_dlq"),
        "purge-all": ("penstock.doors.cli.admin.purging", "purge_all"),
        "bench": ("penstock.doors.cli.admin.bench", "bench"),
    },
)
