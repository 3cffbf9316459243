"""emoscope finds the emotion in a conversation.

>>> import emoscope
>>> detector = emoscope.load()
>>> detector.detect(["I passed!", "That is great news", "I am so happy"]).label
'happy'
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
    "detect": "emoscope.detector",
    "get_task": "emoscope.tasks",
    "load": "emoscope.detector",
}

if TYPE_CHECKING:
    from emoscope.core.dialogue import Detection, Dialogue, Example, Turn
    from emoscope.core.errors import EmoscopeError
    from emoscope.detector import Detector, detect, load
    from emoscope.tasks import get_task

__all__ = ["Detection", "Detector", "Dialogue", "EmoscopeError", "Example", "Turn", "detect", "get_task", "load"]


def __getattr__(name: str) -> Any:
    if name in _EXPORTS:
        from importlib import import_module

        return getattr(import_module(_EXPORTS[name]), name)
    raise AttributeError(f"module 'emoscope' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_EXPORTS})
