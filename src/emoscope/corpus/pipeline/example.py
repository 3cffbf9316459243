"""The example that comes with the package: a plan with its logs, seeds and judgements."""

import shutil
from pathlib import Path

from emoscope.core.errors import EmoscopeError

EXAMPLE = Path(__file__).parents[1] / "example"


def write_example(folder: str | Path) -> Path:
    """Copy the example into a new or empty folder, and say where its plan is.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_example(folder).name
    'plan.toml'
    """
    folder = Path(folder)
    if folder.is_file():
        raise EmoscopeError(f"{folder}: is a file; expected a new or empty folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise EmoscopeError(f"{folder}: is not empty; expected a new or empty folder")
    shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True)
    return folder / "plan.toml"
