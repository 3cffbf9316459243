"""Score tables of any size: streamed, in parallel, resumable, on one machine or a Ray cluster."""

from emoscope.scoring.score_tables import score

__all__ = ["score"]
