"""What shells offer after a tab (`emoscope --install-completion`): names of tasks, systems, models and labels."""

from collections.abc import Iterable


def complete_task(incomplete: str) -> list[str]:
    """Tasks, and folders of corpora.

    >>> complete_task("emotionx-f")
    ['emotionx-friends']
    """
    from emoscope.tasks import TASKS

    return _beginning(incomplete, TASKS) + _folders(incomplete, "corpus.json")


def complete_system(incomplete: str) -> list[str]:
    """Systems that can be trained.

    >>> complete_system("nan")
    ['nano']
    """
    from emoscope.systems import SYSTEMS

    return _beginning(incomplete, SYSTEMS)


def complete_model(incomplete: str) -> list[str]:
    """Embedded models, and folders of runs.

    >>> complete_model("na")
    ['nano']
    """
    from emoscope.detector.bundle import FILE, PRESETS

    return _beginning(incomplete, PRESETS) + _folders(incomplete, FILE)


def complete_labels(incomplete: str) -> list[str]:
    """The sets of labels of the default model."""
    from emoscope.detector.bundle import Bundle, resolve

    return _beginning(incomplete, (head.name for head in Bundle.load(resolve("default")).heads))


def complete_label(incomplete: str) -> list[str]:
    """The labels of the default model's first set."""
    from emoscope.detector.bundle import Bundle, resolve

    return _beginning(incomplete, Bundle.load(resolve("default")).head().labels)


def _beginning(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _folders(incomplete: str, mark: str) -> list[str]:
    """Folders with this prefix that contain a certain file, and folders that may lead to one."""
    from pathlib import Path

    parent = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
    inner = sorted(path for path in parent.iterdir() if path.is_dir()) if parent.is_dir() else []
    chosen = [path for path in inner if str(path).startswith(incomplete) and not path.name.startswith(".")]
    return [str(path) if (path / mark).is_file() else f"{path}/" for path in chosen]
