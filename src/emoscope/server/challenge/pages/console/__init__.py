"""The organisers' console: a page for each thing they look after, and one for all challenges."""

from emoscope.server.challenge.pages.console import all_challenges, notices, overview, phases, teams, tokens

ROUTERS = (
    all_challenges.router,
    overview.router,
    phases.router,
    teams.router,
    notices.router,
    tokens.router,
)
