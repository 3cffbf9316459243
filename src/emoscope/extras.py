"""Optional dependencies: imported where used, and a clear line when they are missing."""

from importlib import import_module
from types import ModuleType

from emoscope.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module, or say which `pip install` mends its absence.

    >>> require("json", extra="train").__name__
    'json'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".", maxsplit=1)[0]:
            raise  # the module is there, something it needs is not: that is a broken install, not a missing extra
        package = module.split(".", maxsplit=1)[0]
        raise MissingExtraError(f"this needs {package}: pip install 'emoscope[{extra}]'") from None
