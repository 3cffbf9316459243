"""Every system with settings small enough for tests."""

from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.systems import SYSTEMS, System
from emoscope.systems.settings import SystemSettings
from emoscope.tasks import get_task

SMALL = {
    "epochs": 1,
    "batch_size": 8,
    "hidden_size": 8,
    "embedding_size": 8,
    "seeds": 2,
    "folds": 2,
    "num_boost_round": 3,
    "min_count": 1,
    "lm_epochs": 1,
    "max_features": 200,
    "max_length": 32,
    "vectors": "random",
    "pretraining_text": 0,
}


WORDS = {
    "others": "what time is it",
    "neutral": "what time is it",
    "happy": "so happy today 😂",
    "joy": "so happy today 😂",
    "sad": "I cry alone :(",
    "sadness": "I cry alone :(",
    "angry": "I hate you !!!",
    "anger": "I hate you !!!",
    "disgust": "that smells bad",
    "fear": "it is dark outside",
    "surprise": "did not expect it",
}


def examples_of(task_name: str) -> list[Example]:
    """Eight labelled examples of each label, in the shape of the task."""
    labels = [label for label in get_task(task_name).labels for _ in range(8)]
    made = []
    for number, label in enumerate(labels):
        text = f"{WORDS[label]} {number}"
        if task_name == "iest":
            dialogue = Dialogue((Turn(f"I am [#TRIGGERWORD#] because {text}"),), str(number))
        elif task_name == "emocontext":
            dialogue = Dialogue(tuple(Turn(said) for said in (f"hi {number}", "hello", text)), str(number))
        else:
            dialogue = Dialogue((Turn("Hey", "Ross"), Turn(text, "Rachel")), str(number))
        variants = {"de": f"really {text}"} if task_name.startswith("emotionx") else {}
        made.append(Example(dialogue, len(dialogue) - 1, label, variants=variants))
    return made


def settings_of(name: str) -> set[str]:
    """The names of a system's settings."""
    return set(getattr(SYSTEMS[name], "settings_class", SystemSettings).model_fields)


def tiny(name: str, encoder: Path, seed: int = 0) -> System:
    kind = SYSTEMS[name]
    small = {**SMALL, "encoder": str(encoder)}
    settings = {key: value for key, value in small.items() if key in settings_of(name)}
    return kind(get_task(kind.metadata.tasks[0]), seed=seed, settings=settings or None)
