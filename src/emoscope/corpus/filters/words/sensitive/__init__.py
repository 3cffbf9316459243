"""Patterns of sensitive topics, of our own, a file for each; the module `sensitive` says how they are read."""
