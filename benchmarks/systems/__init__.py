"""Scores and training times of the systems."""
