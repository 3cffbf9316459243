"""Measure how much of the gold a board gives away to somebody who submits random answers and solves for the labels.

    python -m benchmarks.serving.leak [--items 400] [--submissions 100] [--rounds 5] [--write]

The attack: throw-away teams submit random partitions of the items into labels, and a linear program looks for labels
that explain every score. It is run on what boards told before (precision and recall of every class, exactly) and,
through the platform's services, on what an open board tells now. There a second attack is run too, which does better at
few and rounded numbers: each label is credited with the scores of the submissions that gave it to the item. `leaked` is
what an attack gets right of the labels that giving every item the commonest label does not: 0 % is no better than that,
100 % is all of the gold. `--write` puts the table into docs/results/serving.md.
"""

import io
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from emoscope.evaluation.score import evaluate_labels
from emoscope.server.challenge.scoring import scorer
from emoscope.server.challenge.scoring.worker import ScoringWorker
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.submissions import get_submission, submit
from emoscope.server.challenge.services.teams import register_team
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.store import Store
from emoscope.server.store.models import Job, Phase
from emoscope.tasks import get_task

TASK = get_task("emocontext")
LABELS = TASK.labels
EMOTIONS = tuple(LABELS.index(label) for label in TASK.metric.labels or LABELS)
TEAMS = 4
Codes = NDArray[np.int64]


def solve(
    items: int, rows: Sequence[NDArray[np.float64]], low: Sequence[float], high: Sequence[float], labelled: int
) -> Codes:
    """The labels by a linear program: least violation of `low <= row @ x <= high`.

    x says how far an item has a label; as many items as `labelled` have one.
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, hstack, identity, kron, vstack

    told = csr_matrix(np.array([row.ravel() for row in rows]))
    count, unknown = told.shape
    slack = -identity(count)
    above, below = hstack([told, slack]), hstack([-told, slack])
    one_label = hstack([kron(identity(items), np.ones((1, len(LABELS)))), csr_matrix((items, count))])
    tie_break = np.random.default_rng(0).random(unknown) * 1e-4
    found = linprog(
        np.concatenate([tie_break, np.ones(count)]),
        A_ub=vstack([above, below, one_label]),
        b_ub=np.concatenate([high, -np.array(low), np.ones(items)]),
        A_eq=csr_matrix(np.concatenate([np.ones(unknown), np.zeros(count)])[None]),
        b_eq=[labelled],
        bounds=(0, None),
        method="highs-ds",
    )
    return np.asarray(found.x[:unknown].reshape(items, len(LABELS)).argmax(axis=1))


def exact_figures_attack(gold: Sequence[str], answers: Codes) -> Codes:
    """Solve for the labels with the precision and recall of every class, as boards used to tell them."""
    rows, values = [], []
    for codes in answers:
        told = evaluate_labels(TASK, gold, [LABELS[code] for code in codes], samples=1).per_class
        for label, figures in told.items():
            code = LABELS.index(label)
            row = np.zeros((len(gold), len(LABELS)))
            row[codes == code, code] = 1
            rows.append(row)
            values.append(figures.precision * np.sum(codes == code))  # how many of these are right
            if figures.recall:
                everywhere = np.zeros((len(gold), len(LABELS)))
                everywhere[:, code] = 1
                rows.append(everywhere)
                values.append(values[-1] / figures.recall)
    values = [float(round(value)) for value in values]
    return solve(len(gold), rows, values, values, len(gold))


def score_attack(answers: Codes, scores: NDArray[np.float64], step: float, public: int) -> Codes:
    """Solve for labels that explain the told scores; F1 is linear in what is unknown once its value is known.

    An item of the private part has no label here: it changes no score.
    """
    rows, low, high = [], [], []
    emotion = np.isin(np.arange(len(LABELS)), EMOTIONS)
    for codes, score in zip(answers, scores, strict=True):
        for value, is_low in ((score - step / 2, True), (score + step / 2, False)):
            row = np.zeros((answers.shape[1], len(LABELS)))
            said = emotion[codes]
            row[np.flatnonzero(said), codes[said]] += 2  # right answers count twice,
            row[said] -= value  # against what was said
            row[:, emotion] -= value  # and what there is
            rows.append(row)
            low.append(0.0 if is_low else -np.inf)
            high.append(np.inf if is_low else 0.0)
    bounds_low = [-1e6 if np.isinf(value) else value for value in low]
    bounds_high = [1e6 if np.isinf(value) else value for value in high]
    return solve(answers.shape[1], rows, bounds_low, bounds_high, public)


def credit_attack(answers: Codes, scores: NDArray[np.float64], shares: NDArray[np.float64], public: int) -> Codes:
    """Give each item its most probable label, by how well the submissions scored that gave it that label.

    Of many items and random answers, one right answer moves a score by a little, and the others by a known noise. How
    frequent each label is the attacker knows from the training data.
    """
    emotion = np.isin(np.arange(len(LABELS)), EMOTIONS)
    said, there = emotion.mean() * public, shares[emotion].sum() * public
    gain = np.where(emotion, 2.0, scores.mean()) / (said + there)  # a right "others" is one emotion less that was said
    surprise = (scores - scores.mean()) / max(scores.var(), 1e-9)
    credit = np.array([(surprise[:, None] * (answers == code)).sum(axis=0) for code in range(len(LABELS))])
    return np.asarray((credit * gain[:, None] + np.log(shares)[:, None]).argmax(axis=0))


class _ScoringHere(ScoringWorker):
    """A worker that scores in this process, which is a hundred times faster."""

    def _ask(self, job: Job, request: dict[str, Any], seconds: int) -> dict[str, Any] | None:  # noqa: ARG002
        return scorer.answer(request)


def told_scores(gold: Sequence[str], answers: Codes) -> tuple[NDArray[np.float64], float, set[int]]:
    """What a team is told of each submission by an open board, to which step, and which items are public."""
    items = len(gold)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "given.txt").write_text(_rows([None] * items))
        (source / "gold.txt").write_text(_rows(gold))
        (source / "leak.toml").write_text(
            'slug = "leak"\ntitle = "Leak"\ntask = "emocontext"\n[[phases]]\nname = "open"\ntitle = "Open"\n'
            f'unlabelled = "given.txt"\ngold = "gold.txt"\nper_day = {len(answers)}\nopens = 2020-01-01\n'
        )
        now = datetime(2026, 1, 1, tzinfo=UTC)
        store = Store.open(source / "data", clock=lambda: now)
        try:
            create_challenge(store, OPERATOR, source / "leak.toml")
            made = [register_team(store, PUBLIC, "leak", team=f"Team {number}", member="A") for number in range(TEAMS)]
            actors = [authenticate(store, one.token) for one in made]
            sent = []
            for number, codes in enumerate(answers):
                file = io.BytesIO(_rows([LABELS[code] for code in codes]).encode())
                actor = actors[number % TEAMS]
                sent.append((actor, submit(store, actor, "leak", None, file, file_name="a.txt").id))
            worker = _ScoringHere(store)
            while worker.run_once():
                pass
            scores = []
            for actor, submission in sent:
                figures = get_submission(store, actor, submission).figures
                assert figures is not None
                assert not figures.per_class
                scores.append(figures.score)
            with store.database.read() as session:
                part = session.get_one(Phase, 1).public
            assert part is not None
            public = scorer._parts({"public": str(store.files.path("gold", part["sha256"]))}, items)[0]
            return np.array(scores), part["step"], set(public)
        finally:
            store.close()


def _rows(labels: Sequence[str | None]) -> str:
    head = ["id", "turn1", "turn2", "turn3", *([] if labels[0] is None else ["label"])]
    lines = [
        [str(number), f"hello {number}", "tell me", f"so it is {number}", *([] if label is None else [label])]
        for number, label in enumerate(labels)
    ]
    return "\n".join("\t".join(line) for line in [head, *lines]) + "\n"


def main() -> None:
    parser = command_line(__doc__, "write")
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5, help="challenges, over which figures are averaged")
    parser.add_argument("--others", type=float, nargs="*", default=[0.25, 0.7], help="shares of the commonest label")
    options = parser.parse_args()
    counts = [*(count for count in (60, 80) if count < options.submissions), options.submissions]
    with printed_section("serving", "leak", write=options.write):
        print(f"{options.items:,} items, {TEAMS} attacking teams, mean of {options.rounds} challenges.\n")
        print('| share of "others" | submissions | attack | accuracy | leaked | leaked of the private part |')
        print("|--:|--:|---|--:|--:|--:|")
        for others in options.others:
            rest = (1 - others) / (len(LABELS) - 1)
            shares = np.array([others if label == "others" else rest for label in LABELS])
            rounds = [attacked(options.items, counts, shares, seed) for seed in range(options.rounds)]
            for (count, attack), figures in _means(rounds).items():
                print(f"| {others:.0%} | {count} | {attack} | " + " | ".join(f"{one:.0%}" for one in figures) + " |")


def attacked(
    items: int, counts: Sequence[int], shares: NDArray[np.float64], seed: int
) -> dict[tuple[int, str], tuple[float, float, float]]:
    """Labels right, leaked of all and leaked of what decides, by number of submissions and attack."""
    draw = np.random.default_rng(seed)
    codes = draw.choice(len(LABELS), items, p=shares)
    gold = [LABELS[code] for code in codes]
    answers = draw.integers(0, len(LABELS), (max(counts), items))
    scores, step, public = told_scores(gold, answers)
    private = np.isin(np.arange(items), list(public), invert=True)
    everything = np.ones(items, dtype=bool)
    found = {}
    for count in counts:
        some, told = answers[:count], scores[:count]
        guesses = {
            "exact scores: linear program": (exact_figures_attack(gold, some), everything),
            "default: linear program": (score_attack(some, told, step, len(public)), private),
            "default: credit": (credit_attack(some, told, shares, len(public)), private),
        }
        for name, (guessed, deciding) in guesses.items():
            right, blind = guessed == codes, codes == np.bincount(codes).argmax()
            leaked = [
                (right[part].mean() - blind[part].mean()) / (~blind)[part].mean() for part in (everything, deciding)
            ]
            found[count, name] = (float(right.mean()), float(leaked[0]), float(leaked[1]))
    return found


def _means(
    rounds: Sequence[dict[tuple[int, str], tuple[float, float, float]]],
) -> dict[tuple[int, str], list[float]]:
    return {key: [max(0.0, float(one)) for one in np.mean([each[key] for each in rounds], axis=0)] for key in rounds[0]}


if __name__ == "__main__":
    main()
