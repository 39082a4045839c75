"""Ingesting, measured from files to searchable chunks, beside its bare work and its peers."""
