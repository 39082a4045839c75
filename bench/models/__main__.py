"""`python -m bench.models`: chunks a second by threads, and the splitter's megabytes a second."""

from __future__ import annotations

import argparse

from bench.models import measures


def main() -> None:
    """Measure once and print a line each."""
    parser = argparse.ArgumentParser(prog="python -m bench.models")
    parser.add_argument("--pieces", type=int, default=300, help="texts to embed for each number of threads")
    parser.add_argument("--characters", type=int, default=4_000_000, help="length of the text to split")
    options = parser.parse_args()
    rate = measures.splitting(measures.prose(options.characters))
    print(f"split: {rate.per_second:.2f} MB/s, {rate.per_cpu_second:.2f} MB per CPU second")
    for tokens in (254, 200, 64):
        pieces = measures.full_pieces(options.pieces, tokens)
        for threads in (1, 2):
            rate = measures.embedding(pieces, threads)
            print(
                f"embed, {tokens} tokens, {threads} threads: {rate.per_second:.1f}/s, "
                f"{rate.per_cpu_second:.1f} per CPU second",
                flush=True,
            )


if __name__ == "__main__":
    main()
