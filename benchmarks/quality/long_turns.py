"""How often plain long turns stay neutral, and a single emotional message among plain ones is found.

    python -m benchmarks.quality.long_turns --write

Turns are joined from held-out everyday messages of up to 160 characters: only neutral ones, or one with an emotion that
the model recognises alone, as the first, the middle or the last. The messages are split in two by their hash: the
pooling of detector/long_turns.py was chosen on one half, and the other goes to docs/results/quality.md. `--chosen`
measures the first half instead, which is only printed.
"""

import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import emoscope
from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from emoscope.core.dialogue import Example
from emoscope.distil.everyday import everyday_examples
from emoscope.evaluation.behaviour.cases import labels_for
from emoscope.evaluation.card import markdown_table

MODELS = ("default", "open", "nano")
SENTENCES = (1, 2, 5, 8, 20, 40)
KINDS = ("neutral", "first", "middle", "last")
LONGEST = 160


@dataclass(frozen=True)
class Case:
    """A joined turn and the labels that are right."""

    sentences: int
    kind: str
    text: str
    right: frozenset[str]


def messages(half: int) -> list[Example]:
    """The held-out everyday messages of a half, without those of one or two words."""
    found = [each for each in everyday_examples(held_out=True) if len(each.dialogue) == 1]
    found = [each for each in found if len(each.text) <= LONGEST and len(each.text.split()) >= 3]
    return [each for each in found if hashlib.sha1(each.text.encode()).digest()[0] % 2 == half]


def cases(detector: emoscope.Detector, half: int, each: int, seed: int) -> Iterator[Case]:
    """Joined turns of every length and kind, `each` of them."""
    draw = random.Random(seed)
    found = messages(half)
    plain = [example.text for example in found if set(example.votes) == {"neutral"}]
    felt = [example for example in found if "neutral" not in example.votes]
    answers = detector.detect_many(example.dialogue for example in felt)
    wanted = [frozenset(labels_for(list(example.votes), detector.labels)) for example in felt]
    # An emotion that the labels do not have is their "others", which is no emotion to be found.
    usual = max(detector.training_prior, key=detector.training_prior.__getitem__)
    told = [
        (example.text, right)
        for example, answer, right in zip(felt, answers, wanted, strict=True)
        if answer.label in right - {usual}
    ]
    for sentences in SENTENCES:
        for kind in KINDS:
            for _ in range(each):
                said, right = draw.sample(plain, sentences), frozenset(labels_for(["neutral"], detector.labels))
                if kind != "neutral":
                    place = {"first": 0, "middle": sentences // 2, "last": sentences - 1}[kind]
                    said[place], right = draw.choice(told)
                yield Case(sentences, kind, " ".join(map(_ended, said)), right)


def _ended(text: str) -> str:
    return text if text[-1] in ".!?" else f"{text}."


def measure(model: str, half: int, each: int, seed: int) -> list[list[str]]:
    """The share of right answers, a row for each number of sentences."""
    detector = emoscope.load(model)
    right: dict[tuple[int, str], list[bool]] = {}
    asked = list(cases(detector, half, each, seed))
    for case, answer in zip(asked, detector.detect_many([case.text] for case in asked), strict=True):
        right.setdefault((case.sentences, case.kind), []).append(answer.label in case.right)
    return [
        [model, str(sentences), *(f"{np.mean(right[sentences, kind]):.0%}" for kind in KINDS)]
        for sentences in SENTENCES
    ]


def main() -> None:
    parser = command_line(__doc__, "seed", "write")
    parser.add_argument("--each", type=int, default=100, help="how many turns of each length and kind")
    parser.add_argument("--chosen", action="store_true", help="measure the half that the pooling was chosen on")
    options = parser.parse_args()
    half = 0 if options.chosen else 1
    rows = [row for model in MODELS for row in measure(model, half, options.each, options.seed)]
    with printed_section("quality", "long-turns", write=options.write and not options.chosen):
        print(markdown_table(["model", "sentences", "all neutral", "emotion first", "in the middle", "last"], rows))


if __name__ == "__main__":
    main()
