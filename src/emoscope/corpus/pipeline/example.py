"""The example that comes with the package: a plan with its logs, seeds and judgements."""

import shutil
from contextlib import suppress
from pathlib import Path

from emoscope.core.files import atomic_folder

EXAMPLE = Path(__file__).parents[1] / "example"


def write_example(folder: str | Path) -> Path:
    """Copy the example into a new or empty folder, and return the path of its plan.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_example(folder).name
    'plan.toml'
    """
    target = Path(folder)
    if target.is_dir() and target.samefile(".") and not any(target.iterdir()):  # which cannot be replaced
        shutil.copytree(EXAMPLE, target, dirs_exist_ok=True)
        return target / "plan.toml"
    with suppress(OSError):  # atomic_folder reports the error
        target.absolute().parent.mkdir(parents=True, exist_ok=True)
    with atomic_folder(target) as part:
        shutil.copytree(EXAMPLE, part, dirs_exist_ok=True)
    return target / "plan.toml"
