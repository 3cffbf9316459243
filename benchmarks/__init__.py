"""Measures what the documentation says: every number in docs/results comes from one of these commands."""
