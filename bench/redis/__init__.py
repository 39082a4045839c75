"""The Redis queue's benchmark: `python -m bench.redis`."""
