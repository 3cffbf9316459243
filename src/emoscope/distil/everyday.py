"""Everyday dialogues we wrote for the `general` head: what people type to friends, family, shops and bots.

A row is `emotion<TAB>situation<TAB>turn<TAB>turn…`; "sadness/anger" accepts both, the first being likelier. Dialogues
of one situation are taught together or not at all: the rest shows what carries over to situations never taught.
"""

from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import InputError
from emoscope.models.block import Floats
from emoscope.models.ensembles.folds import fold_number

GENERAL = ("neutral", "joy", "sadness", "anger", "fear", "disgust", "surprise")
HELD_OUT_OF = 8  # one situation in so many is held out
_VOTES = (2, 1)  # for the likelier of two emotions, and the other


def everyday_examples(*, held_out: bool = False) -> list[Example]:
    """The dialogues of the situations that are taught, or of those held out; `votes` has all accepted emotions.

    >>> {example.label for example in everyday_examples()} == set(GENERAL)
    True
    """
    examples = []
    folder = files("emoscope.distil") / "assets" / "everyday"
    for path in sorted(folder.iterdir(), key=lambda entry: entry.name):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            emotions, situation, *turns = line.split("\t")
            accepted = emotions.split("/")
            if not turns or not set(accepted) <= set(GENERAL):
                raise InputError(path.name, "expected an emotion, a situation and a dialogue", row=number)
            if (fold_number([situation], HELD_OUT_OF) == 0) == held_out:
                votes = dict(zip(accepted, _VOTES, strict=False))
                dialogue = Dialogue(tuple(map(Turn, turns)))
                examples.append(Example(dialogue, len(turns) - 1, accepted[0], votes=votes))
    return examples


def general_targets(examples: Sequence[Example]) -> Floats:
    """The accepted emotions of everyday dialogues as probabilities."""
    counts = np.array([[example.votes.get(label, 0) for label in GENERAL] for example in examples], float)
    return np.asarray(counts.reshape(-1, len(GENERAL)) / counts.reshape(-1, len(GENERAL)).sum(1, keepdims=True))
