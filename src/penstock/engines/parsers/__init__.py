"""Parsing in child processes that a bad file may kill: a few warm ones, each with limits and shut in.

Nothing is imported here: a child, which is started again and again, would load the parent's side with it.
"""
