"""The challenge platform's web pages."""

from emoscope.server.challenge.pages import account, board, challenges, console, oidc, reports, submissions, team

_PAGES = (account, oidc, challenges, board, reports, team, submissions)
ROUTERS = (*(page.router for page in _PAGES), *console.ROUTERS)
