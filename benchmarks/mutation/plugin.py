"""What the tests need to run under mutmut."""

import os
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Let processes that a test starts import the mutated package, not the installed one."""
    import emoscope

    os.environ["PYTHONPATH"] = str(Path(emoscope.__file__).parents[1])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test the attribute that mutmut 3.8 asks for and pytest 9 no longer has."""
    vars(item).setdefault("_nodeid", item.nodeid)
