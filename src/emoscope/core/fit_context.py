"""What a fit may use besides its data."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from emoscope.core.errors import EmoscopeError


def no_progress(message: str, done: float) -> None:
    """Ignore progress."""


@dataclass(frozen=True, slots=True)
class FitContext:
    """What a fit may use besides its data."""

    seed: int = 0
    """Seed of everything random."""
    device: str = "auto"
    """`cpu`, `cuda`, `cuda:1` or `auto`, which is the GPU if there is one."""
    checkpoints: Path | None = None
    """Folder for checkpoints, from which a killed fit resumes; None writes no checkpoints."""
    resources: Path | None = None
    """Folder with lexicons, word vectors and unlabelled text."""
    unseen: frozenset[str] = frozenset()
    """Texts that will be scored: pretraining and auxiliary data must not contain them."""
    workers: int = 1
    """Number of ensemble members trained in parallel, each in its own process."""
    devices: int = 1
    """Number of devices that train each network together."""
    progress: Callable[[str, float], None] = field(default=no_progress)
    """Called with a message and the fraction of work done, from 0 to 1."""

    def part(self, name: str, *, seed: int | None = None) -> "FitContext":
        """The context for one part of a larger fit, with its own checkpoint folder and, if given, its own seed.

        >>> FitContext(checkpoints=Path("checkpoints")).part("first", seed=3).checkpoints.name
        'first'
        """
        checkpoints = self.checkpoints / name if self.checkpoints is not None else None
        return replace(self, checkpoints=checkpoints, seed=self.seed if seed is None else seed)

    def resource(self, name: str) -> Path:
        """The path of a file or folder in the resources; an error if it is missing."""
        if self.resources is None:
            raise EmoscopeError(f"this needs {name}: give the folder of the data with --data or EMOSCOPE_DATA")
        path = self.resources / name
        if not path.exists():
            raise EmoscopeError(f"this needs {name}, which is not in {self.resources}")
        return path
