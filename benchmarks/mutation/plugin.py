"""mutmut 3.8 asks a test for an attribute that pytest 9 no longer has."""

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    vars(item).setdefault("_nodeid", item.nodeid)
