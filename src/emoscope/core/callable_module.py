"""Callable packages: `emoscope.tasks` holds the tasks, `emoscope.tasks()` lists them."""

import sys
from types import ModuleType
from typing import Any


def make_callable(module: str, function: str) -> None:
    """Make a module callable: a call imports `"module:function"` and runs it.

    >>> make_callable(__name__, "builtins:len")
    >>> sys.modules[__name__]("abc")
    3
    """

    class Callable(ModuleType):
        def __call__(self, *arguments: Any, **options: Any) -> Any:
            from importlib import import_module

            where, name = function.split(":")
            return getattr(import_module(where), name)(*arguments, **options)

    sys.modules[module].__class__ = Callable
