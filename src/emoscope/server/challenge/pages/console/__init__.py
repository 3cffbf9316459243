"""The organisers' console."""

from emoscope.server.challenge.pages.console import all_challenges, overview, phases, teams, texts, tokens

ROUTERS = tuple(page.router for page in (all_challenges, overview, phases, texts, teams, tokens))
