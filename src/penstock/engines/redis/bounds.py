"""What one job may weigh on Redis: a claim answers with whole jobs, and a reply has a bound."""

from __future__ import annotations

from dataclasses import replace

from penstock.model.rules import Rules

PAYLOAD_BYTES_MAX = 16 << 20
METADATA_BYTES_MAX = 4 << 20
"""Metadata is told twice, and as text within text; together with the rest a job stays below 32 MiB, and the
answer to a claim, which may hold as much again of others, below the 64 MiB a reply may have."""


def fitting(rules: Rules) -> Rules:
    """The rules, with what is accepted held to what can be handed out again."""
    return replace(
        rules,
        payload_bytes_max=min(rules.payload_bytes_max, PAYLOAD_BYTES_MAX),
        metadata_bytes_max=min(rules.metadata_bytes_max, METADATA_BYTES_MAX),
    )
