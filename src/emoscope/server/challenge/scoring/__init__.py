"""Durable scoring: every accepted submission is scored once or fails visibly, whatever is killed meanwhile."""
