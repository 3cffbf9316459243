"""Optional dependencies: imported where used, with a clear error if missing."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from emoscope.core.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module; if it is missing, the error says which `pip install` provides it.

    >>> require("json", extra="train").__name__
    'json'
    """
    package = module.split(".", maxsplit=1)[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != package:
            raise  # a dependency of the module is missing: a broken installation, not a missing extra
        raise MissingExtraError(f"this needs {package}: pip install 'emoscope[{extra}]'") from None


def check_installed(*packages: str, extra: str) -> None:
    """If a package is missing, raise an error that says which `pip install` provides it; nothing is imported.

    >>> check_installed("json", extra="train")
    """
    for package in packages:
        try:
            installed = find_spec(package) is not None
        except ValueError:  # sys.modules holds None for it
            installed = False
        if not installed:
            raise MissingExtraError(f"this needs {package}: pip install 'emoscope[{extra}]'")
