"""A lazy registry of `"module:attribute"` entries, one for each kind of object (tasks, systems, blocks)."""

from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from typing import Generic, TypeVar, cast

from emoscope.core.errors import EmoscopeError, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Maps names to objects that are imported on first use.

    Other packages register objects with `add`, or with an entry point in the group `entry_points`; entry points are
    looked up only for names that were not added.

    >>> shapes = Registry[type]("shape")
    >>> shapes.add("counter", "collections:Counter")
    >>> shapes["counter"].__name__
    'Counter'
    >>> shapes["countr"]
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: no shape named 'countr'; did you mean 'counter'?
    """

    def __init__(self, kind: str, *, entry_points: str | None = None) -> None:
        self.kind = kind
        self._group = entry_points
        self._entries: dict[str, str] = {}

    def add(self, name: str, target: str) -> None:
        """Register `"module:attribute"` under a new name."""
        if name in self._entries:
            raise ValueError(f"{self.kind} {name!r} is registered twice: {self._entries[name]} and {target}")
        if target.count(":") != 1:
            raise ValueError(f"{self.kind} {name!r}: expected 'module:attribute', not {target!r}")
        self._entries[name] = target

    @cached_property
    def _installed(self) -> dict[str, str]:
        if self._group is None:
            return {}
        from importlib.metadata import entry_points

        return {point.name: point.value for point in entry_points(group=self._group)}

    def _all(self) -> dict[str, str]:
        return {**self._installed, **self._entries}

    def __getitem__(self, name: str) -> T:
        target = self._entries.get(name) or self._installed.get(name)
        if target is None:
            raise EmoscopeError(f"no {self.kind} named {name!r}; {did_you_mean(name, list(self))}")
        module, attribute = target.split(":")
        return cast(T, getattr(import_module(module), attribute))

    def name_of(self, thing: type) -> str:
        """The name a class is registered under."""
        target = f"{thing.__module__}:{thing.__qualname__}"
        names = [name for name, entry in self._entries.items() if entry == target]
        if not names:
            names = [name for name, entry in self._installed.items() if entry == target]
        if not names:
            raise EmoscopeError(f"{thing.__name__} is not a registered {self.kind}")
        return min(names)

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self._installed

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._all()))

    def __len__(self) -> int:
        return len(self._all())
