"""Fixtures of the browser tests: a chromium per file, screen sizes and colour schemes, a server with a challenge."""

from collections.abc import Iterator
from typing import Any

import pytest

from kits.server_process import ServerProcess, running_server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from kits.browser_kit import opened_browser  # skips where there is none

    with opened_browser() as opened:
        yield opened


@pytest.fixture(params=["dark", "desk", "phone"])
def look(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def challenge_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """The server with the challenge `mine` of `kits.challenge_site`."""
    from kits.challenge_site import prepare

    folder = tmp_path_factory.mktemp("server")
    prepare(folder)
    with running_server(folder) as running:
        yield running
