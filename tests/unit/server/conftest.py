"""A store with a fixed clock, and a running site, on every available database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from emoscope.server.store import Store
from kits.challenge_kit import BACKENDS, Clock, opened_store
from kits.challenge_site import Site, opened_site


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(backend: str, tmp_path: Path, clock: Clock) -> Iterator[Store]:
    with opened_store(backend, tmp_path, clock) as opened:
        yield opened


@pytest.fixture
def site(backend: str, tmp_path: Path) -> Iterator[Site]:
    with opened_site(tmp_path, backend) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_site(backend: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with opened_site(tmp_path_factory.mktemp("site"), backend) as opened:
        yield opened
