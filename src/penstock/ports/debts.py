"""Debts: what a change leaves to be done, written with it and paid later (clause K14 of the catalogue)."""

from __future__ import annotations

from typing import Protocol

from penstock.model.catalogue import Debt, NewDebt


class Debts(Protocol):
    """What is owed, inside a transaction (K14)."""

    def owe(self, debt: NewDebt) -> None:
        """Owe it, once."""
        ...

    def paid(self, debt: Debt) -> None:
        """It is done."""
        ...
