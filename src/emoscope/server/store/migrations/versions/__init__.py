"""Revisions, each of which can be undone."""
