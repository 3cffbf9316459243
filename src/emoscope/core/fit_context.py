"""What a fit may use beside its data."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from emoscope.core.errors import EmoscopeError


def _silent(message: str, done: float) -> None:
    pass


@dataclass(frozen=True, slots=True)
class FitContext:
    """What a fit may use beside its data: a seed, a device, where to keep checkpoints, whom to tell of progress.

    `resources` is the folder of lexicons, vectors and unlabelled text; blocks that need one say so by name. `unseen`
    holds texts that will be scored: what is learnt beside the data must not contain them. `workers` is how many parts
    of an ensemble may be trained at once, each in a process of its own; `devices` on how many devices each network is
    trained, batches shared out between them.
    """

    seed: int = 0
    device: str = "auto"
    checkpoints: Path | None = None
    resources: Path | None = None
    unseen: frozenset[str] = frozenset()
    workers: int = 1
    devices: int = 1
    report: Callable[[str, float], None] = field(default=_silent)

    def part(self, name: str, *, seed: int | None = None) -> "FitContext":
        """The same for one part of a combination, with a checkpoint folder of its own.

        >>> FitContext(checkpoints=Path("kept")).part("first", seed=3).checkpoints.name
        'first'
        """
        kept = self.checkpoints / name if self.checkpoints is not None else None
        return replace(self, checkpoints=kept, seed=self.seed if seed is None else seed)

    def resource(self, name: str) -> Path:
        """A file or folder of the resources, or a clear line that it is missing."""
        if self.resources is None:
            raise EmoscopeError(f"this needs {name}: give the folder of the data with --data or EMOSCOPE_DATA")
        path = self.resources / name
        if not path.exists():
            raise EmoscopeError(f"this needs {name}, which is not in {self.resources}")
        return path
