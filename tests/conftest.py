"""Shared fixtures and marks. Tests write their own small files; those marked `data` need the benchmarks.

`make test` leaves out what is marked `e2e` or `slow`; `make test-all` runs everything.
"""

import os
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side, and torch would use all cores in each

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code; speed is measured in benchmarks/.
settings.register_profile("emoscope", deadline=None)
settings.load_profile("emoscope")


E2E = Path(__file__).parent / "e2e"
collect_ignore = ["kits/windows_like"]  # it takes away what Windows has not, in the processes that are given it
collect_ignore_glob = ["*conftest.py"]  # collected for doctests, two of them would be one module


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if E2E in item.path.parents or any(isinstance(one, str) and one == "postgresql" for one in parameters):
            item.add_marker(pytest.mark.e2e)
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
