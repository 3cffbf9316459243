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
    package = module.split(".", maxsplit=1)[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != package:
            raise  # the module is there, something it needs is not: that is a broken install, not a missing extra
        raise MissingExtraError(f"this needs {package}: pip install 'emoscope[{extra}]'") from None


def check_installed(*packages: str, extra: str) -> None:
    """Say which `pip install` is needed if a package is missing, without importing any.

    >>> check_installed("json", extra="train")
    """
    for package in packages:
        try:
            installed = find_spec(package) is not None
        except ValueError:  # it is marked as not to be imported
            installed = False
        if not installed:
            raise MissingExtraError(f"this needs {package}: pip install 'emoscope[{extra}]'")
