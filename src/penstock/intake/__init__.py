"""The only ways in: submit, scan and watch, uploads."""
