"""The challenge platform's JSON API."""

from emoscope.server.challenge.api import challenges, organising, submissions, teams

ROUTERS = (challenges.router, teams.router, submissions.router, organising.router)
