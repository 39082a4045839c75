"""Benchmarks: ratios against peers and against the raw limit, taken in one run on one machine."""
