"""The challenge platform's web pages."""

from emoscope.server.challenge.pages import account, board, challenges, console, oidc, reports, submissions, team

ROUTERS = (
    account.router,
    oidc.router,
    challenges.router,
    board.router,
    reports.router,
    team.router,
    submissions.router,
    *console.ROUTERS,
)
