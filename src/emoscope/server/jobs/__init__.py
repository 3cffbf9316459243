"""Durable work: every accepted submission is scored once or its failure is known, whatever is killed in between."""

from emoscope.server.jobs.worker import Worker

__all__ = ["Worker"]
