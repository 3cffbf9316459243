"""Durable work: every accepted submission is scored once or its failure is known, whatever is killed in between."""

from emoscope.server.challenge.scoring.worker import Worker

__all__ = ["Worker"]
