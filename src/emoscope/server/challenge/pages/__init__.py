"""The challenge platform's web pages."""

from emoscope.server.challenge.pages import account, board, challenges, console, submissions, team

_PAGES = (account, challenges, board, team, submissions)
ROUTERS = (*(page.router for page in _PAGES), *console.ROUTERS)
