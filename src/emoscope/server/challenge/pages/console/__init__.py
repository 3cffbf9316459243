"""The organisers' console."""

from emoscope.server.challenge.pages.console import (
    all_challenges,
    files,
    notices,
    overview,
    phases,
    teams,
    texts,
    tokens,
)

ROUTERS = (
    all_challenges.router,
    overview.router,
    phases.router,
    texts.router,
    files.router,
    teams.router,
    notices.router,
    tokens.router,
)
