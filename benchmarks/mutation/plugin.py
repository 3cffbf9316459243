"""What the tests need to run under mutmut."""

import os
from importlib import import_module
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Let processes that a test starts import the mutated package, not the installed one."""
    import emoscope

    os.environ["PYTHONPATH"] = str(Path(emoscope.__file__).parents[1])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test the attribute that mutmut 3.8 asks for and pytest 9 no longer has."""
    vars(item).setdefault("_nodeid", item.nodeid)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Let the tests of its package, tests/unit/PACKAGE, test a function: others reach it too, but take longer."""
    reached: set[str] = import_module("mutmut.state").state()._stats
    reached -= {name for name in reached if f"tests/unit/{name.split('.')[1]}/" not in item.nodeid}
