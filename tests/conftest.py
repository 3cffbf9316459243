"""Shared fixtures. Tests write their own small files; those marked `data` need the benchmarks."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code; speed is measured in benchmarks/.
settings.register_profile("emoscope", deadline=None)
settings.load_profile("emoscope")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = os.environ.get("EMOSCOPE_DATA")
    if folder and Path(folder).is_dir():
        return
    skip = pytest.mark.skip(reason="benchmark data not found: set EMOSCOPE_DATA to their folder")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(skip)


@pytest.fixture
def data_folder() -> Path:
    return Path(os.environ["EMOSCOPE_DATA"]).resolve()


@pytest.fixture(autouse=True)
def _wide_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables must not wrap to the width of whatever terminal the tests are started from."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture(scope="session")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a pretrained encoder with a few random weights."""
    from kits.tiny_encoder import make_tiny_encoder

    return make_tiny_encoder(tmp_path_factory.mktemp("encoder"))
