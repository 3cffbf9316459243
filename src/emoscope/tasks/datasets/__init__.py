"""Auxiliary corpora and unlabelled text, read with the tasks' own readers."""
