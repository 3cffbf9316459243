"""The challenge platform's JSON API."""

from emoscope.server.challenge.api import challenges, downloads, organising, submissions, teams

ROUTERS = (challenges.router, downloads.router, teams.router, submissions.router, organising.router)
