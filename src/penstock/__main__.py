"""`python -m penstock` is the `penstock` command."""

from penstock.doors.cli import main

if __name__ == "__main__":
    main()
