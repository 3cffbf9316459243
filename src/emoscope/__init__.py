"""emoscope finds the emotion in a conversation.

>>> import emoscope
>>> detector = emoscope.load()
>>> detector.detect(["I love you"]).label
'joy'
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# Everything below is imported on first use, so that `import emoscope` costs nothing.
_EXPORTS = {
    "Detection": "emoscope.core.dialogue",
    "Detector": "emoscope.detector",
    "Dialogue": "emoscope.core.dialogue",
    "EmoscopeError": "emoscope.core.errors",
    "Example": "emoscope.core.dialogue",
    "Turn": "emoscope.core.dialogue",
    "compare": "emoscope.api",
    "crossvalidate": "emoscope.runs.crossvalidate",
    "detect": "emoscope.detector",
    "evaluate": "emoscope.api",
    "get_task": "emoscope.tasks",
    "load": "emoscope.detector",
    "predict": "emoscope.api",
    "score": "emoscope.scoring",
    "train": "emoscope.runs.train",
}
_CALLABLE_PACKAGES = ("systems", "tasks")  # callable packages: a call lists their content

if TYPE_CHECKING:
    from emoscope.api import compare, evaluate, predict, systems, tasks
    from emoscope.core.dialogue import Detection, Dialogue, Example, Turn
    from emoscope.core.errors import EmoscopeError
    from emoscope.detector import Detector, detect, load
    from emoscope.runs.crossvalidate import crossvalidate
    from emoscope.runs.train import train
    from emoscope.scoring import score
    from emoscope.tasks import get_task

__all__ = [
    "Detection",
    "Detector",
    "Dialogue",
    "EmoscopeError",
    "Example",
    "Turn",
    "compare",
    "crossvalidate",
    "detect",
    "evaluate",
    "get_task",
    "load",
    "predict",
    "score",
    "systems",
    "tasks",
    "train",
]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in _CALLABLE_PACKAGES:
        return import_module(f"emoscope.{name}")
    if name in _EXPORTS:
        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'emoscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS, *_CALLABLE_PACKAGES})
