"""A site with a challenge, and its organisers, signed in to the console."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.tokens import issue_organiser_token
from emoscope.server.store import Store
from kits.challenge_kit import phase
from kits.challenge_site import OPENED, Site, opened_site
from kits.console_kit import signed_in


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    phases = phase("practice", opens=OPENED, per_day=5) + phase("final", opens=None, board="hidden")
    with opened_site(tmp_path, phases=phases, mail_url="console:") as opened:
        yield opened


@pytest.fixture
def organiser(site: Site) -> TestClient:
    """The organiser of the challenge, Olga."""
    return signed_in(site, site.organiser)


@pytest.fixture
def chief(site: Site) -> TestClient:
    """The organiser of all challenges."""
    store: Store = site.client.app.state.store  # type: ignore[attr-defined]
    token = issue_organiser_token(store, OPERATOR, name="Chief").token
    return signed_in(site, token)
