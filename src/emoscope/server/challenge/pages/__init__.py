"""The challenge platform's web pages."""

from emoscope.server.challenge.pages import account, challenges, organiser, submissions, team

ROUTERS = (account.router, challenges.router, team.router, submissions.router, organiser.router)
