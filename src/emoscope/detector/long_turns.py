"""Long turns: only their start and end are read, and the turn to be labelled in windows.

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
# About the length of the messages the models were trained on.
WINDOW_CHARACTERS = 160
# Weights: of a window's divergence from the mix of labels (in nats), and of its position, last against first.
# Chosen on the long complaints of the behaviour suite and on joined everyday messages:
# `python -m benchmarks.quality.long_turns`.
_SURPRISE, _LATE = 4.0, 0.5

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
    """An example for each window of the labelled turn, with the turns before it but not those after."""
    *before, turn = example.dialogue.turns[: example.turn + 1]
    return [
        Example(Dialogue((*before, Turn(text, turn.speaker)), example.dialogue.id), example.turn)
        for text in window_texts(turn.text)
    ]


def window_texts(text: str, size: int = WINDOW_CHARACTERS) -> list[str]:
    """A text cut into windows of about the same length, between sentences where there are any.

    >>> window_texts("I waited. Nobody came. I am furious!", size=20)
    ['I waited. Nobody came.', 'I am furious!']
    """
    pieces = [piece for sentence in _SENTENCE.split(text) for piece in _pieces(sentence, size)]
    whole = sum(len(piece) + 1 for piece in pieces)
    target = whole / max(1, -(-whole // size))
    parts: list[list[str]] = []
    done = 0
    for piece in pieces:
        if not parts or done + len(piece) / 2 > target * len(parts):
            parts.append([])
        parts[-1].append(piece)
        done += len(piece) + 1
    return [" ".join(window) for window in parts] or [text]


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
    """Pool the answers to the windows of a turn, a row each; `mix` is how common the labels are.

    Most of a long complaint is a plain report, which is no evidence against the sentence that says how the writer
    feels. So a window counts more the further its answer is from the mix (by Kullback-Leibler divergence). All labels
    but the most common one count as equally rare: a rare emotion is no better evidence than another.

    >>> answers = np.array([[0.9, 0.1], [0.9, 0.1], [0.1, 0.9]])
    >>> int(pooled(answers, np.array([0.8, 0.2])).argmax())
    1
    """
    safe = np.clip(probabilities, 1e-9, 1.0)
    most = np.clip(mix.max(), 1e-9, 1 - 1e-9)
    expected = np.where(np.arange(len(mix)) == mix.argmax(), most, (1 - most) / (len(mix) - 1))
    surprise = (safe * np.log(safe / expected)).sum(1)
    weights = np.exp(_SURPRISE * (surprise - surprise.max()) + _LATE * np.linspace(0, 1, len(safe)))
    # One row at a time, so that the sum does not depend on how numpy multiplies matrices.
    answer = (probabilities * weights[:, None]).sum(0)
    return np.asarray(answer / answer.sum())


def too_long(examples: Sequence[Example]) -> NDArray[np.bool_]:
    """Which examples have a turn, up to the labelled one, that is too long to be read whole."""
    spoken = (each.dialogue.turns[: each.turn + 1] for each in examples)
    return np.array([any(len(turn.text) > READ_CHARACTERS for turn in turns) for turns in spoken], bool)
