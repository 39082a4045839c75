"""How many events reach how many connections, how soon, and what an idle one weighs."""
