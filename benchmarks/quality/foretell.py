"""Why fold scores of EmotionX do not foretell the blind score, and an estimate that does: docs/results/foretell.md.

    python -m benchmarks.quality.foretell folds --system podlab --data DATA     (trains, and keeps its fold labels)
    python -m benchmarks.quality.foretell run --data DATA
    python -m benchmarks.quality.foretell render

`run` looks for what folds and evaluation dialogues could differ in: scenes and lines that other folds, or MELD, have;
text; the annotators' agreement. The paper gives Fleiss' kappa of training and evaluation dialogues together, the votes
give that of the training dialogues, so that of the evaluation dialogues follows. For systems that
learnt from MELD the turns of one or two words that MELD has are left out, and the other such turns stand for them. The
estimate weighs the training dialogues by exp(-x * agreement), x chosen so that their kappa is that of the evaluation
dialogues; its interval draws as many dialogues as there are to be scored. It
needs the label that a system gave each scored turn out of fold: benchmarks/results/folds/TASK/SYSTEM.txt, one a line.
`large` and the blend of encoders that it was before kept none; their rows have the mean change of the others.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_json, read_rows, write_json
from benchmarks.quality.data_sets import SHORT_NAMES
from benchmarks.quality.estimates import by_others, fold_scores
from emoscope.core.agreement import fleiss_kappa
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.fit_context import FitContext
from emoscope.core.metrics import Floats
from emoscope.evaluation.results import read_results
from emoscope.models.ensembles.folds import fold_numbers
from emoscope.systems import SYSTEMS
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split
from emoscope.tasks.datasets.affect import plain
from emoscope.tasks.datasets.readers import read_friends_scripts, read_meld

FOLDS = 5
TASKS = ("emotionx-friends", "emotionx-push")
# Fleiss' kappa of training and evaluation dialogues together, as the paper gives it.
PUBLISHED_KAPPA = {"emotionx-friends": 0.326, "emotionx-push": 0.342}
TABLE, LABELS, PAGE = RESULTS / "foretell.json", RESULTS / "folds", PAGES / "foretell.md"
SAMPLES = 2000
LEARNT_MELD = ("decoder", "default", "large")


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def kappa(votes: Floats, weights: Floats) -> float:
    """Fleiss' kappa of items that count by their weights; all have the same number of votes."""
    raters = votes[0].sum()
    weights = weights / weights.sum()
    observed = float(weights @ ((votes * (votes - 1)).sum(1) / (raters * (raters - 1))))
    expected = float(((weights @ (votes / raters)) ** 2).sum())
    return (observed - expected) / (1 - expected)


def implied_kappa(together: float, train: float, items: int, others: int) -> float:
    """The kappa of the rest, if that of a whole is the mean of its parts by their items (which is nearly so).

    >>> round(implied_kappa(0.326, 0.3383, 14503, 3296), 3)
    0.272
    """
    return (together * (items + others) - train * items) / others


def tilted(votes: Floats, dialogue: np.ndarray[Any, Any], wanted: float) -> Floats:
    """A weight for each dialogue with which the votes have the wanted kappa: exp(-x * agreement)."""
    raters = votes[0].sum()
    each = (votes * (votes - 1)).sum(1) / (raters * (raters - 1))
    agreement = np.bincount(dialogue, each) / np.bincount(dialogue)
    centred = agreement - agreement.mean()
    low, high = -60.0, 60.0
    for _ in range(60):
        middle = (low + high) / 2
        if kappa(votes, np.exp(-middle * centred)[dialogue]) > wanted:
            low = middle
        else:
            high = middle
    weights: Floats = np.exp(-(low + high) / 2 * centred)
    return weights


@cache
def _meld(data: Path) -> frozenset[tuple[str, ...]]:
    """Every turn of MELD's training file with the one before it."""
    found = set()
    for example in read_meld(data / "auxiliary" / "meld"):
        if example.turn:
            found.add(tuple(map(letters, example.context.texts[-2:])))
    return frozenset(found)


def is_in_meld(example: Example, data: Path, *, longest: int | None = None) -> bool:
    """Whether MELD has the turn after the same turn; of at most `longest` words."""
    if not example.turn or (longest is not None and len(example.text.split()) > longest):
        return False
    return tuple(map(letters, example.context.texts[-2:])) in _meld(data)


def overlaps(data: Path) -> list[dict[str, Any]]:
    """What folds of Friends share with other folds or MELD, beside what evaluation dialogues share with training."""
    task = get_task("emotionx-friends")
    train, test = (read_split(task, split, data) for split in ("train", "test"))
    numbers = dict(zip((e.dialogue for e in train), fold_numbers(train, FOLDS), strict=True))
    scene_of: dict[str, set[int]] = defaultdict(set)
    for number, scripted in enumerate(read_friends_scripts(data / "auxiliary" / "friends-scripts" / "friends.txt.gz")):
        for text in scripted.texts:
            if key := plain(text):
                scene_of[key].add(number)

    def scene(dialogue: Dialogue) -> int | None:
        found = Counter(number for text in dialogue.texts for number in scene_of.get(plain(text), ()))
        best = found.most_common(1)
        return best[0][0] if best and best[0][1] > 1 else None

    folds_of_scene: dict[int | None, list[int]] = defaultdict(list)
    for dialogue, fold in numbers.items():
        folds_of_scene[scene(dialogue)].append(fold)
    folds_of_line: dict[str, set[int]] = defaultdict(set)
    for example in train:
        folds_of_line[plain(example.text)].add(numbers[example.dialogue])
    tests = list(dict.fromkeys(e.dialogue for e in test))
    known = [(fold, place) for d, fold in numbers.items() if (place := scene(d)) is not None]
    placed = [place for d in tests if (place := scene(d)) is not None]
    lines = [(key, numbers[e.dialogue]) for e in train if (key := plain(e.text))]
    asked = [key for e in test if (key := plain(e.text))]

    def share(hits: Sequence[bool]) -> float:
        return sum(hits) / len(hits)

    return [
        {
            "what": "dialogues whose scene has another one in other folds (training data)",
            "folds": share([any(other != fold for other in folds_of_scene[place]) for fold, place in known]),
            "evaluation": share([bool(folds_of_scene.get(place)) for place in placed]),
        },
        {
            "what": "lines of three words or more that other folds (training data) have",
            "folds": share([bool(folds_of_line[key] - {fold}) for key, fold in lines]),
            "evaluation": share([bool(folds_of_line.get(key)) for key in asked]),
        },
        {
            "what": "turns that MELD's training file has, after the same turn",
            "folds": share([is_in_meld(e, data) for e in train]),
            "evaluation": share([is_in_meld(e, data) for e in test]),
        },
        {
            "what": "those of one or two words, which `large` and `default` learnt from MELD (since mended)",
            "folds": share([is_in_meld(e, data, longest=2) for e in train]),
            "evaluation": share([is_in_meld(e, data, longest=2) for e in test]),
        },
        {
            "what": "words in a turn",
            "folds": float(np.mean([len(e.text.split()) for e in train])),
            "evaluation": float(np.mean([len(e.text.split()) for e in test])),
        },
        {
            "what": "turns with an exclamation mark",
            "folds": share(["!" in e.text for e in train]),
            "evaluation": share(["!" in e.text for e in test]),
        },
    ]


def estimates(task_name: str, data: Path) -> dict[str, Any]:
    """The agreement that the evaluation dialogues must have, and what each system's fold labels are worth there."""
    task = get_task(task_name)
    train, test = (read_split(task, split, data) for split in ("train", "test"))
    names = task.metadata.vote_labels
    votes = np.array([[example.votes[name] for name in names] for example in train], float)
    ids: dict[Dialogue, int] = {}
    dialogue = np.array([ids.setdefault(example.dialogue, len(ids)) for example in train])
    own = fleiss_kappa(votes)
    wanted = implied_kappa(PUBLISHED_KAPPA[task_name], own, len(train), len(test))
    weights = tilted(votes, dialogue, wanted)
    scored = np.array([place for place, example in enumerate(train) if task.scored(str(example.label))])
    short = np.array([not plain(train[place].text) for place in scored])
    given_away = np.array([is_in_meld(train[place], data, longest=2) for place in scored])
    unaffected = np.where(given_away, 0.0, 1.0)
    unaffected[short & ~given_away] = short.sum() / max(1, (short & ~given_away).sum())
    group, blind = dialogue[scored], len({example.dialogue for example in test})
    systems = {}
    for path in sorted((LABELS / task_name).glob("*.txt")):
        said = path.read_text(encoding="utf-8").split()
        right = np.array([said[row] == train[place].label for row, place in enumerate(scored)], float)
        learnt = path.stem in LEARNT_MELD and task_name == "emotionx-friends"
        each = unaffected if learnt else np.ones(len(scored))
        systems[path.stem] = {
            "folds": float(right.mean()),
            "without": float(np.average(right, weights=each)) if learnt else None,
            **_weighted(right, each, group, weights, blind),
        }
    return {
        "train_kappa": own,
        "together": PUBLISHED_KAPPA[task_name],
        "evaluation_kappa": wanted,
        "effective": float(weights.sum() ** 2 / (weights**2).sum()),
        "neutral": float(np.mean([train[place].label == task.metadata.neutral_label for place in scored])),
        "neutral_weighted": float(
            np.average([train[p].label == task.metadata.neutral_label for p in scored], weights=weights[group])
        ),
        "systems": systems,
    }


def _weighted(
    right: Floats, each: Floats, group: np.ndarray[Any, Any], weights: Floats, count: int
) -> dict[str, float]:
    """The share that is right by turns' and dialogues' weights, and its interval for that many dialogues."""
    hits, items = (np.bincount(group, values, len(weights)) for values in (right * each, each))
    rng = np.random.default_rng(0)
    drawn = rng.choice(len(weights), (SAMPLES, count), p=weights / weights.sum())
    shares = hits[drawn].sum(1) / items[drawn].sum(1)
    low, high = np.quantile(shares, [0.025, 0.975])
    return {"estimate": float((weights @ hits) / (weights @ items)), "low": float(low), "high": float(high)}


def fold_labels(system_name: str, task_name: str, data: Path) -> list[str]:
    """The labels that a system gives the scored turns out of fold."""
    task = get_task(task_name)
    examples = read_split(task, SYSTEMS[system_name].metadata.learns_from, data)
    numbers = np.array(fold_numbers(examples, FOLDS))
    found = [""] * len(examples)
    for fold in range(FOLDS):
        held_out = np.flatnonzero(numbers == fold).tolist()
        system = SYSTEMS[system_name](task)
        system.fit([e for e, n in zip(examples, numbers, strict=True) if n != fold], FitContext(resources=data))
        for place, label in zip(held_out, system.predict([examples[place] for place in held_out]), strict=True):
            found[place] = label
    return [label for label, e in zip(found, examples, strict=True) if task.scored(str(e.label))]


def render() -> None:
    """Write the tables."""
    found = read_json(TABLE)
    lines = ["| Friends | folds | evaluation dialogues |", "|---|---:|---:|"]
    lines += [f"| {row['what']} | {row['folds']:.3f} | {row['evaluation']:.3f} |" for row in found["overlaps"]]
    write_section(PAGE, "overlaps", "\n".join(lines))
    lines = [
        "| task | kappa, training | together, as published | evaluation, implied | effective dialogues after weighting "
        "| neutral among scored | after weighting |",
        "|---|" + "---:|" * 6,
    ]
    for name, task in found["tasks"].items():
        lines.append(
            f"| {name} | {task['train_kappa']:.3f} | {task['together']:.3f} | {task['evaluation_kappa']:.3f} "
            f"| {task['effective']:.0f} of 1,000 | {task['neutral']:.3f} | {task['neutral_weighted']:.3f} |"
        )
    write_section(PAGE, "agreement", "\n".join(lines))
    lines = [
        "| task | system | folds | without MELD leakage | estimate for the blind set | 95 % interval |",
        "|---|---|---:|---:|---:|---|",
    ]
    blends = {row["task"]: row["blend"] for row in read_rows(RESULTS / "large_blends.csv")}
    large = fold_scores(read_results(RESULTS / "models" / "large.json"))
    for name, task in found["tasks"].items():
        rows = {
            **task["systems"],
            "large (encoders), by the others' change": by_others(task, blends[name], learnt_meld=True),
            "large, by the others' change": by_others(task, large[SHORT_NAMES[name]], learnt_meld=False),
        }
        for system, row in rows.items():
            cells = [_four(row[key]) for key in ("folds", "without", "estimate")]
            lines.append(f"| {name} | {system} | {' | '.join(cells)} | {row['low']:.4f} to {row['high']:.4f} |")
    write_section(PAGE, "estimates", "\n".join(lines))


def _four(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("what", choices=["folds", "run", "render"])
    parser.add_argument("--system", default="podlab")
    options = parser.parse_args()
    if options.what == "folds":
        for name in TASKS:
            path = LABELS / name / f"{options.system}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            get_task(name).write_labels(path, fold_labels(options.system, name, options.data))
            keep(path, made(0, {"folds": FOLDS}, [find_split(get_task(name), "train", options.data).path]))
    elif options.what == "run":
        found = {"overlaps": overlaps(options.data), "tasks": {name: estimates(name, options.data) for name in TASKS}}
        write_json(TABLE, found)
        files = [find_split(get_task(name), split, options.data).path for name in TASKS for split in ("train", "test")]
        files.append(options.data / "auxiliary" / "meld" / "train_sent_emo.csv")
        keep(TABLE, made(0, {"samples": SAMPLES, "folds": FOLDS}, files))
    else:
        render()


if __name__ == "__main__":
    main()
