"""The files of a corpus build, and plans with a step added or removed."""

from pathlib import Path

import emoscope.corpus
from emoscope.corpus.pipeline.build import TIMINGS

EXAMPLE = Path(emoscope.corpus.__path__[0]) / "example"


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of a build, hidden ones too, but for how long things took."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != TIMINGS)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def folders(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_dir()}


def without_step(plan: str, name: str) -> str:
    start = plan.index(f'[[steps]]\nuse = "{name}"')
    return plan[:start] + plan[plan.index("[[steps]]", start + 5) :]


def with_apertium(plan: str) -> str:
    """A plan that augments before it splits."""
    augment = '[[steps]]\nuse = "augment"\nengine = "apertium"\nvia = ["es"]\n\n'
    return plan.replace('[[steps]]\nuse = "split"', f'{augment}[[steps]]\nuse = "split"')
