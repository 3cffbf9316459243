"""Stratified sample for a human study: equally many items per label and group, like IEST's 50 per emotion and cue."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from emoscope.core.counts import counted
from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.annotation.formats import write_rows
from emoscope.corpus.annotation.items import example_names
from emoscope.evaluation.slices import SLICES
from emoscope.tasks import get_task

ITEMS, GOLD, GOLD_QUESTIONS = "items.csv", "gold.csv", "gold-questions.csv"


def stratified(
    examples: Iterable[tuple[str, Example]], size: int, *, by: str, groups: Iterable[str] | None = None, seed: int
) -> list[tuple[str, Example]]:
    """Draw `size` named examples per label and group, in random order; too few of one is an error.

    >>> from emoscope.core.dialogue import Dialogue
    >>> rows = [(str(n), Example(Dialogue.of(["hi" + " 🙂" * (n % 2)]), turn=0, label="joy")) for n in range(8)]
    >>> len(stratified(rows, 3, by="emoji", seed=1))
    6
    """
    group_of = SLICES[by].group_of
    cells: defaultdict[tuple[str, str], list[tuple[str, Example]]] = defaultdict(list)
    for name, example in examples:
        if example.label is not None:
            cells[example.label, group_of(example)].append((name, example))
    if not cells:
        raise EmoscopeError("has no labels: a study needs a labelled file")
    wanted = list(dict.fromkeys(groups)) if groups is not None else sorted({group for _, group in cells})
    random = Random(seed)
    drawn: list[tuple[str, Example]] = []
    for label in sorted({label for label, _ in cells}):
        for group in wanted:
            cell = cells[label, group]
            if len(cell) < size:
                there = sorted({group for (_, group), members in cells.items() if members})
                raise EmoscopeError(
                    f"{counted(len(cell), 'item')} with the label {label} and the {by} {group!r}, expected {size:,}; "
                    f"give a smaller --size, or other --groups of {', '.join(there)}"
                )
            drawn += random.sample(cell, size)
    random.shuffle(drawn)
    return drawn


def gold_questions(rows: Sequence[tuple[str, Example]], share: float, *, seed: int) -> list[tuple[str, Example]]:
    """Draw a share of the items at random, to be mixed in as gold questions.

    >>> from emoscope.core.dialogue import Dialogue
    >>> rows = [(str(n), Example(Dialogue.of(["hi"]), turn=0, label="joy")) for n in range(60)]
    >>> len(gold_questions(rows, 0.05, seed=1))
    3
    """
    number = round(share * len(rows))
    if not 0 < number < len(rows):
        which = "none" if number == 0 else "all"
        raise EmoscopeError(f"--gold-share {share:g} would make {which} of the {len(rows):,} items gold questions")
    return Random(seed).sample(rows, number)


def write_study_sample(
    source: Path,
    folder: Path,
    *,
    task: str,
    size: int = 50,
    by: str = "cue",
    groups: Iterable[str] | None = ("because", "that", "when"),
    gold_share: float | None = None,
    seed: int = 1,
) -> dict[str, dict[str, int]]:
    """Write `items.csv` (task,text), to judge, and `gold.csv` (task,label,text); return the counts by label.

    With `gold_share`, that share of the items goes to `gold-questions.csv`, for `annotate --gold`.
    """
    group_of = SLICES[by].group_of  # before the file is read
    named = example_names(source, get_task(task).read(source)).items()
    try:
        rows = stratified(named, size, by=by, groups=groups, seed=seed)
    except EmoscopeError as error:
        raise InputError(source, str(error)) from None
    asked = [] if gold_share is None else gold_questions(rows, gold_share, seed=seed)
    for name in (ITEMS, GOLD, GOLD_QUESTIONS):  # the questions may have been answered by hand
        if (folder / name).exists():
            raise EmoscopeError(f"{folder / name}: exists already; write to another folder")
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / ITEMS, ["task", "text"], [(name, example.text) for name, example in rows])
    _write_labelled(folder / GOLD, rows)
    if asked:
        _write_labelled(folder / GOLD_QUESTIONS, asked)
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for _, example in rows:
        counts[str(example.label)][group_of(example)] += 1
    return {label: dict(sorted(counts[label].items())) for label in sorted(counts)}


def _write_labelled(path: Path, rows: Iterable[tuple[str, Example]]) -> None:
    write_rows(path, ["task", "label", "text"], [(name, str(example.label), example.text) for name, example in rows])
