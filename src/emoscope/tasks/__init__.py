"""The shared tasks: their labels, files and metrics. A task is one module and one line below.

>>> get_task("iest").labels
('anger', 'disgust', 'fear', 'joy', 'sad', 'surprise')
"""

from emoscope.core.callable_module import make_callable
from emoscope.core.registry import Registry
from emoscope.tasks.base import Task

TASKS: Registry[type[Task]] = Registry("task", entry_points="emoscope.tasks")
TASKS.add("emocontext", "emoscope.tasks.emocontext:EmoContext")
TASKS.add("emotionx-friends", "emoscope.tasks.emotionx:EmotionXFriends")
TASKS.add("emotionx-push", "emoscope.tasks.emotionx:EmotionXPush")
TASKS.add("iest", "emoscope.tasks.iest:Iest")


def get_task(name: str) -> Task:
    """The task registered under a name, or the corpus in a folder with a `corpus.json`.

    >>> get_task("emocontext").metric.name
    'micro-f1'
    """
    from emoscope.tasks.corpus_task import CorpusTask, is_corpus

    return CorpusTask(name) if name not in TASKS and is_corpus(name) else TASKS[name]()


__all__ = ["TASKS", "Task", "get_task"]
make_callable(__name__, "emoscope.api:tasks")
