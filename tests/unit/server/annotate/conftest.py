"""A small annotation study and its desk."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from kits.annotation_desk import DeskBrowser, open_desk
from kits.annotation_kit import items, made_study, opened


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made_study(tmp_path / "study", items(4), judges=3, people=("ann", "ben", "cleo"))
    return tmp_path / "study"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with opened(folder) as running:
        yield running


@pytest.fixture
def desk(client: TestClient, folder: Path) -> DeskBrowser:
    return open_desk(client, folder)
