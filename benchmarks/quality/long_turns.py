"""How windows over a long turn are best pooled into one answer.

    python -m benchmarks.quality.long_turns --labels ekman

Asked are the long complaints of the behaviour suite, and turns of fifteen everyday messages joined, fourteen of them
without emotion: with an emotion at the start, in the middle, at the end, nowhere, or all through. Only messages enter
that the model answers right when they are alone. Compared are: the start alone, as much as is read at once; the mean of
the windows' probabilities; and weights by surprise (the divergence from the mix of labels) and place, as in use.
"""

import random
from collections.abc import Callable, Iterator

import numpy as np

import emoscope
from benchmarks.common.options import command_line
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.metrics import Floats
from emoscope.detector import long_turns
from emoscope.detector.long_turns import pooled, window_texts
from emoscope.detector.model import head_answers
from emoscope.distil.everyday import everyday_examples
from emoscope.evaluation.behaviour import read_suite
from emoscope.evaluation.behaviour.cases import labels_for
from emoscope.evaluation.card import markdown_table
from emoscope.models.label_shift import shift_prior

Pool = Callable[[Floats, Floats], Floats]


def cases(detector: emoscope.Detector, each: int, seed: int = 0) -> Iterator[tuple[str, str, set[str]]]:
    """The kind of a long turn, its text, and the labels that are right."""
    for case in read_suite():
        if case.kind == "long complaint" and case.type == "functionality":
            yield "complaint", case.dialogues[0].texts[-1], labels_for(case.expectation.split(" or "), detector.labels)
    rng = random.Random(seed)
    single = [example for example in everyday_examples() if len(example.dialogue) == 1 and example.label]
    single = [example for example in single if len(example.text.split()) >= 6]
    found = list(detector.detect_many(example.dialogue for example in single))
    right = [
        (example.text if example.text[-1] in ".!?" else f"{example.text}.", str(example.label))
        for example, answer in zip(single, found, strict=True)
        if answer.label in labels_for([str(example.label)], detector.labels) and answer.score > 0.6
    ]
    plain = [text for text, emotion in right if emotion == "neutral"]
    told = [(text, emotion) for text, emotion in right if emotion in ("joy", "sadness", "anger")]
    for _ in range(each):
        for kind, place in (("start", 0), ("middle", 7), ("end", 14)):
            text, emotion = rng.choice(told)
            said = rng.sample(plain, 14)
            yield kind, " ".join([*said[:place], text, *said[place:]]), labels_for([emotion], detector.labels)
        yield "neutral", " ".join(rng.sample(plain, 15)), labels_for(["neutral"], detector.labels)
        emotion = rng.choice(["joy", "sadness", "anger"])
        same = [text for text, own in told if own == emotion]
        yield "throughout", " ".join(rng.sample(same, min(9, len(same)))), labels_for([emotion], detector.labels)


def pools() -> dict[str, tuple[int, Pool]]:
    """Ways to pool, each with its length of a window in characters."""

    def weighted(surprise: float, late: float) -> Pool:
        def pool(answers: Floats, mix: Floats) -> Floats:
            before = long_turns._SURPRISE, long_turns._LATE
            long_turns._SURPRISE, long_turns._LATE = surprise, late
            try:
                return pooled(answers, mix)
            finally:
                long_turns._SURPRISE, long_turns._LATE = before

        return pool

    ways: dict[str, tuple[int, Pool]] = {"start alone": (100_000, lambda answers, _: answers[0])}
    for size in (120, 160, 240, 400):
        ways[f"mean, {size}"] = size, weighted(0, 0)
        for surprise in (1, 2, 4):
            ways[f"surprise {surprise}, late 0.5, {size}"] = size, weighted(surprise, 0.5)
        ways[f"most surprising, {size}"] = size, weighted(1e3, 0)
    return ways


def measure(labels: str | None, each: int) -> str:
    """A table of the ways to pool: the share of right answers by kind of turn."""
    detector = emoscope.load(labels=labels)
    head, block, mix = detector._head, detector._block, detector._trained
    asked = [case for case in cases(detector, each) if case[2]]
    kinds = list(dict.fromkeys(kind for kind, *_ in asked))
    rows = []
    for name, (size, pool) in pools().items():
        right: dict[str, list[bool]] = {kind: [] for kind in kinds}
        for kind, text, expected in asked:
            windows = [Example.last(Dialogue.of([window])) for window in window_texts(text, size)]
            answer = pool(head_answers(head, block, block.infer(windows))[0], mix)
            shifted = shift_prior(answer[None], mix, detector._prior)
            right[kind].append(detector.labels[int(shifted.argmax())] in expected)
        rows.append([name, *(f"{np.mean(right[kind]):.2f}" for kind in kinds)])
    return markdown_table(["windows", *(f"{kind} ({sum(k == kind for k, *_ in asked)})" for kind in kinds)], rows)


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--labels", help="the set of labels; the model's first if none is given")
    parser.add_argument("--each", type=int, default=40, help="how many joined turns of each kind")
    options = parser.parse_args()
    print(measure(options.labels, options.each))


if __name__ == "__main__":
    main()
