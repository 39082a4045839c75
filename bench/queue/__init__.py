"""The queue's benchmark: `python -m bench.queue`."""
