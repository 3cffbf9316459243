"""One lazy table of `"module:attribute"` entries per kind of thing (tasks, systems)."""

from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from typing import Generic, TypeVar, cast

from emoscope.core.errors import EmoscopeError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to things that are imported only when asked for.

    >>> shapes = Registry[type]("shape")
    >>> shapes.add("counter", "collections:Counter")
    >>> shapes["counter"].__name__
    'Counter'
    >>> shapes["countr"]
    Traceback (most recent call last):
    emoscope.core.errors.EmoscopeError: no shape named 'countr'; did you mean 'counter'?
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, str] = {}

    def add(self, name: str, target: str) -> None:
        """Register `"module:attribute"` under a name that nothing else has."""
        if name in self._entries:
            raise ValueError(f"{self.kind} {name!r} is registered twice: {self._entries[name]} and {target}")
        if target.count(":") != 1:
            raise ValueError(f"{self.kind} {name!r}: expected 'module:attribute', not {target!r}")
        self._entries[name] = target

    def __getitem__(self, name: str) -> T:
        if name not in self._entries:
            raise EmoscopeError(f"no {self.kind} named {name!r}; {self._hint(name)}")
        module, attribute = self._entries[name].split(":")
        return cast(T, getattr(import_module(module), attribute))

    def target(self, name: str) -> str:
        """The `"module:attribute"` a name stands for."""
        return self._entries[name]

    def _hint(self, name: str) -> str:
        close = get_close_matches(name.lower(), self._entries, n=1)
        return f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(sorted(self._entries))}"

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
