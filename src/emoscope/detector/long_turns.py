"""Long turns: only their start and end are read, and the turn to be labelled sentence by sentence.

A turn is cut before anything else reads it, so time and memory are bounded for any input.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.metrics import Floats

# Of a longer turn, the first and the last half of this many characters are read (about 700 words).
READ_CHARACTERS = 4_000
# A sentence is read alone and in windows of about these lengths: the models were trained on messages of 10 to 320.
WINDOW_CHARACTERS = (160, 320)
READINGS = 1 + len(WINDOW_CHARACTERS)
SHORT_SENTENCE = 20  # characters; a shorter one is read with the next
# How far the mean of the sentences' odds leans to the largest, and how much more the last one weighs than the first, as
# a logarithm. Chosen on one half of the joined messages of `python -m benchmarks.quality.long_turns`.
_POWER, _LATE = 1.35, 0.5
_LEAST = 1e-3  # no reading is surer than this

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\s*\n\s*")
_WORD_EDGE = 40  # how many characters a cut may move to avoid splitting a word


def read_spans(text: str) -> list[tuple[int, int]]:
    """The spans of a text that are read: all of it, or its start and end, cut between words.

    >>> read_spans("so sad"), [end - start for start, end in read_spans("ha" * 3000)]
    ([(0, 6)], [2000, 2000])
    """
    if len(text) <= READ_CHARACTERS:
        return [(0, len(text))]
    first, last = READ_CHARACTERS // 2, len(text) - READ_CHARACTERS // 2
    before = max(text.rfind(" ", first - _WORD_EDGE, first), text.rfind("\n", first - _WORD_EDGE, first))
    after = text.find(" ", last, last + _WORD_EDGE)
    return [(0, before if before > 0 else first), (after + 1 if after > 0 else last, len(text))]


def shortened(text: str) -> str:
    """The part of a text that is read.

    >>> len(shortened("😂" * 3_000_000))
    4001
    """
    if len(text) <= READ_CHARACTERS:
        return text
    return " ".join(text[start:end] for start, end in read_spans(text))


def shortened_example(example: Example) -> Example:
    """The example with its long turns shortened; the same object if there are none."""
    turns = example.dialogue.turns
    if all(len(turn.text) <= READ_CHARACTERS for turn in turns):
        return example
    cut = tuple(Turn(shortened(turn.text), turn.speaker) for turn in turns)
    return replace(example, dialogue=Dialogue(cut, example.dialogue.id))


def windows(example: Example) -> list[Example]:
    """The readings of the labelled turn, sentence by sentence, with the turns before it but not those after."""
    *before, turn = example.dialogue.turns[: example.turn + 1]
    return [
        Example(Dialogue((*before, Turn(text, turn.speaker)), example.dialogue.id), example.turn)
        for texts in readings(turn.text)
        for text in texts
    ]


def readings(text: str) -> list[tuple[str, ...]]:
    """Each sentence of a text: alone, and the windows it is in, from short to long.

    What is said again counts once, and a very long sentence is cut.

    >>> readings("I waited for an hour. I waited for an hour. I am furious!")[1]
    ('I am furious!', 'I waited for an hour. I am furious!', 'I waited for an hour. I am furious!')
    """
    cut = [piece for sentence in _SENTENCE.split(text) for piece in _pieces(sentence, WINDOW_CHARACTERS[0])]
    sentences: list[str] = []
    for piece in dict.fromkeys(cut):
        if sentences and len(sentences[-1]) < SHORT_SENTENCE:
            sentences[-1] += f" {piece}"
        else:
            sentences.append(piece)
    sentences = sentences or [text]
    return list(zip(sentences, *(_windows(sentences, size) for size in WINDOW_CHARACTERS), strict=True))


def _windows(sentences: Sequence[str], size: int) -> list[str]:
    """For each sentence its window: sentences in a row of about the same length in all."""
    whole = sum(len(sentence) + 1 for sentence in sentences)
    target = whole / -(-whole // size)
    numbers: list[int] = []
    done = 0
    for sentence in sentences:
        numbers.append(int((done + len(sentence) / 2) / target))
        done += len(sentence) + 1
    joined: dict[int, str] = {}
    for number, sentence in zip(numbers, sentences, strict=True):
        joined[number] = f"{joined[number]} {sentence}" if number in joined else sentence
    return [joined[number] for number in numbers]


def _pieces(sentence: str, size: int) -> list[str]:
    """A sentence, cut into pieces of at most `size` characters, between words if possible."""
    pieces = []
    rest = sentence.strip()
    while len(rest) > size:
        end = rest.rfind(" ", size // 2, size + 1)
        end = size if end < 0 else end
        pieces.append(rest[:end])
        rest = rest[end:].strip()
    return [*pieces, rest] if rest else pieces


def pooled(probabilities: Floats, mix: Floats) -> Floats:
    """Pool the answers to the readings of a turn, of the shape (sentences, readings, labels); `mix` is how common the
    labels are.

    The log-odds of each label against the most common one are averaged over the readings of a sentence, so that an
    emotion counts if it shows alone and in context. A power mean over the sentences then leans to the strongest, for
    most of a long complaint is a plain report; but the longer the turn, the surer a single sentence has to be.

    >>> plain, angry = [[0.9, 0.1]] * 3, [[0.1, 0.9]] * 3
    >>> [int(pooled(np.array([plain] * many + [angry]), np.array([0.8, 0.2])).argmax()) for many in (4, 400)]
    [1, 0]
    """
    logs = np.log(np.clip(probabilities, _LEAST, 1))
    odds = (logs - logs[:, :, [mix.argmax()]]).mean(1)
    weights = np.exp(_LATE * np.linspace(0, 1, len(odds)))
    # Summed one row at a time, so that the answer does not depend on how numpy multiplies matrices.
    means = ((np.exp(_POWER * odds) * weights[:, None]).sum(0) / weights.sum()) ** (1 / _POWER)
    return np.asarray(means / means.sum())


def too_long(examples: Sequence[Example]) -> NDArray[np.bool_]:
    """Which examples have a turn, up to the labelled one, that is too long to be read whole."""
    spoken = (each.dialogue.turns[: each.turn + 1] for each in examples)
    return np.array([any(len(turn.text) > READ_CHARACTERS for turn in turns) for turns in spoken], bool)
