"""Everyday dialogues we wrote for the `general` head: what people type to friends, family, shops and bots.

A row is `emotion<TAB>situation<TAB>turn<TAB>turn…`; "sadness/anger" accepts both, the first being more likely. All
dialogues of a situation are either used for training or held out, which tests generalisation to new situations.
"""

from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files

import numpy as np

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import InputError
from emoscope.models.block import Floats
from emoscope.models.ensembles.folds import fold_number

GENERAL = ("neutral", "joy", "sadness", "anger", "fear", "disgust", "surprise")
HELD_OUT_OF = 8  # one in eight situations is held out
JOINED = 8_000
EXCLAIMED = 6_000
SURROUNDED = 16_000
WORDS_THAT_TELL = 4  # shorter messages may answer what was said before
JOINED_CHARACTERS = 320  # about as much as a student reads at once
_VOTES = (2, 1)  # for the more likely of two emotions, and the other


def everyday_examples(*, held_out: bool = False) -> list[Example]:
    """The dialogues of the training situations, or of the held-out ones; `votes` has all accepted emotions.

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


def joined_examples(count: int = JOINED) -> list[Example]:
    """Longer messages joined from everyday ones: neutral ones alone, or around one with an emotion, which decides.

    Most long messages in the data are emotional. Without these, a student finds an emotion in every plain report of
    several sentences.
    """
    draw = np.random.default_rng(0)
    messages = [example for example in everyday_examples() if example.turn == 0 and len(example.votes) == 1]
    messages = [example for example in messages if 20 <= len(example.text) <= JOINED_CHARACTERS // 2]
    plain = [example for example in messages if example.label == "neutral"]
    felt = [example for example in messages if example.label != "neutral"]
    examples = []
    for number in range(count):
        parts = [plain[place] for place in draw.integers(len(plain), size=draw.integers(2, 7))]
        decisive = felt[draw.integers(len(felt))] if number % 2 else parts[0]
        room = JOINED_CHARACTERS - len(decisive.text)
        others = [part for part in parts if part is not decisive and (room := room - len(part.text) - 2) >= 0]
        others.insert(int(draw.integers(len(others) + 1)), decisive)
        text = " ".join(part.text if part.text[-1] in ".!?" else f"{part.text}." for part in others)
        examples.append(Example(Dialogue((Turn(text),)), 0, decisive.label, votes=decisive.votes))
    return examples


def exclaimed_examples(count: int = EXCLAIMED) -> list[Example]:
    """Everyday messages without joy or surprise, ended by exclamation marks.

    Most messages with "!!" are joyful. Without these, "my son is missing!!" is answered as joy.
    """
    calm = [each for each in everyday_examples() if each.turn == 0 and not {"joy", "surprise"} & set(each.votes)]
    calm = [each for each in calm if each.text[-1].isalnum() or each.text[-1] == "."]
    draw = np.random.default_rng(0)
    chosen = draw.choice(len(calm), size=min(count, len(calm)), replace=False)
    marks = draw.integers(1, 4, size=len(chosen))
    return [
        replace(calm[place], dialogue=Dialogue((Turn(calm[place].text.rstrip(".") + "!" * number),)))
        for place, number in zip(chosen, marks, strict=True)
    ]


def surrounded_examples(count: int = SURROUNDED, *, held_out: bool = False) -> list[Example]:
    """Everyday messages after two turns of other dialogues, with another emotion, that say nothing about them.

    Most taught dialogues hang together. Without these, laughter two turns before outweighs "my dog died yesterday".
    """
    everyday = everyday_examples(held_out=held_out)
    messages = [each for each in everyday if each.turn == 0]
    telling = [each for each in messages if len(each.text.split()) >= WORDS_THAT_TELL]
    replies = [each for each in everyday if each.turn > 0]
    draw = np.random.default_rng(0)
    examples: list[Example] = []
    while len(examples) < count:
        message, first, second = (group[draw.integers(len(group))] for group in (telling, messages, replies))
        if not set(message.votes) & (set(first.votes) | set(second.votes)):
            turns = (Turn(first.text), Turn(second.text), Turn(message.text))
            examples.append(replace(message, dialogue=Dialogue(turns), turn=2))
    return examples


def vote_shares(examples: Sequence[Example], labels: Sequence[str] = GENERAL) -> Floats:
    """The votes, or the accepted emotions of everyday dialogues, as probabilities; NaN if there are none."""
    counts = np.array([[example.votes.get(label, 0) for label in labels] for example in examples], float)
    counts = counts.reshape(len(examples), len(labels))
    with np.errstate(invalid="ignore"):
        return np.asarray(counts / counts.sum(1, keepdims=True))
