"""Teach a small student from large teachers, and bundle it."""
