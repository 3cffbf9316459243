"""Compute how likely the gold questions' sequential test has refused a worker, by accuracy and number of answers.

    python -m benchmarks.corpus.gold [--write]

The probabilities are exact: the chances of each number of right answers are carried from answer to answer.
"""

from collections.abc import Iterator
from itertools import count, islice

from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from emoscope.corpus.annotation.gold_questions import GoldRules

ACCURACIES = (0.25, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
ANSWERS = (3, 6, 10, 20, 40)


def refused_by(rules: GoldRules, accuracy: float) -> Iterator[float]:
    """The probability that a worker of this accuracy has been refused after one answer, after two, and so on."""
    going, refused = {0: 1.0}, 0.0  # the chance of each number of right answers, if not refused
    for answers in count(1):
        after: dict[int, float] = {}
        for right, chance in going.items():
            after[right] = after.get(right, 0.0) + chance * (1 - accuracy)
            after[right + 1] = after.get(right + 1, 0.0) + chance * accuracy
        refused += sum(chance for right, chance in after.items() if rules.refuses(right, answers))
        going = {right: chance for right, chance in after.items() if not rules.refuses(right, answers)}
        yield refused


def print_table(rules: GoldRules) -> None:
    print("| gold answers |", *(f"{accuracy} |" for accuracy in ACCURACIES))
    print("|---:" * (len(ACCURACIES) + 1) + "|")
    columns = [list(islice(refused_by(rules, accuracy), max(ANSWERS))) for accuracy in ACCURACIES]
    for answers in ANSWERS:
        print(f"| {answers} |", *(f"{column[answers - 1]:.3f} |" for column in columns))


def main() -> None:
    options = command_line(__doc__, "write").parse_args()
    with printed_section("corpus", "gold", write=options.write):
        print_table(GoldRules())


if __name__ == "__main__":
    main()
