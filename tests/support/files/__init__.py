"""Makers of real and hostile files, each a function that gives bytes."""
