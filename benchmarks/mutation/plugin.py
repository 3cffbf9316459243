"""What the tests need to run under mutmut."""

import os
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Let processes that a test starts import the mutated package, not the installed one."""
    import emoscope

    os.environ["PYTHONPATH"] = str(Path(emoscope.__file__).parents[1])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Run only the tests of the mutated package, tests/unit/PACKAGE: others reach much of it too, but take longer."""
    package, *names = os.environ.get("MUTANT_UNDER_TEST", "").split(".")
    if package == "emoscope" and names:
        others = [item for item in items if f"unit/{names[0]}/" not in item.nodeid]
        items[:] = [item for item in items if item not in others]
        config.hook.pytest_deselected(items=others)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Give a test the attribute that mutmut 3.8 asks for and pytest 9 no longer has."""
    vars(item).setdefault("_nodeid", item.nodeid)
