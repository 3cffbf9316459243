"""The challenge platform's web pages."""

from emoscope.server.challenge.pages import account, challenges, oidc, organiser, submissions, team

ROUTERS = (account.router, oidc.router, challenges.router, team.router, submissions.router, organiser.router)
