"""Scoring tables of any size: streamed, in parallel, resumable; on one machine or on a Ray cluster."""

from emoscope.scoring.run import score

__all__ = ["score"]
