"""Optional dependencies: imported where used, and a clear line when they are missing."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from emoscope.core.errors import MissingExtraError


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


def check_installed(*packages: str, extra: str) -> None:
    """Say which `pip install` is needed if a package is missing, without importing any.

    >>> check_installed("json", extra="train")
    """
    for package in packages:
        try:
            found = find_spec(package) is not None
        except ValueError:  # it is marked as not to be imported
            found = False
        if not found:
            raise MissingExtraError(f"this needs {package}: pip install 'emoscope[{extra}]'")
