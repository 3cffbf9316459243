"""Active learning: use judgements of earlier candidates in the next round of mining."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import InputError, did_you_mean
from emoscope.corpus.annotation.aggregate import Method, aggregate
from emoscope.corpus.annotation.files import read_annotations
from emoscope.corpus.mining.mine import OTHERS, read_seeds
from emoscope.tables import PIPE, read_records

Seeds = Mapping[str, Sequence[Dialogue]]


def read_judged(paths: Sequence[Path], pool: str, classes: Collection[str], format: str | None = None) -> Seeds:
    """Read the dialogues of each label from tables with turns and `label`, and from judgements of the pool's ids.

    The labels are those of the seeds, `classes`, and `others`. A dialogue with several judges, in one file or in
    several, gets the label of the absolute majority; without one, it is left out.
    """
    judgements = [path for path in dict.fromkeys(paths) if path.is_dir() or _holds_judgements(path)]
    judged: Seeds = {}
    for path in dict.fromkeys(paths):
        if path not in judgements:
            table = read_seeds(path, any_class=True)
            _check_labels(path, table, classes)
            judged = with_judged(judged, table)
    return with_judged(judged, _judged_in_pool(judgements, pool, classes, format)) if judgements else judged


def _judged_in_pool(files: Sequence[Path], pool: str, classes: Collection[str], format: str | None) -> Seeds:
    results = aggregate(read_annotations(files).judgements, Method.absolute)
    labels = {result.task: None if result.fallback else result.label for result in results}
    named = ", ".join(map(str, files))
    _check_labels(named, [label for label in labels.values() if label is not None], classes)
    judged: dict[str, list[Dialogue]] = {}
    undecided = 0
    for record in read_records(pool, format) if pool != PIPE else ():
        task = str(record.columns.get("id", ""))
        if task not in labels:
            continue
        label = labels[task]
        if label is None:
            undecided += 1
        else:
            judged.setdefault(label, []).append(record.dialogue)
    if not judged and undecided:
        raise InputError(named, "no task has a label that more than half of its judges gave")
    if not judged:
        raise InputError(
            named, f"none of its tasks is an `id` of {pool}; give the candidates themselves, with a column 'label'"
        )
    return judged


def _check_labels(file: str | Path, labels: Iterable[str], classes: Collection[str]) -> None:
    if unknown := sorted(set(labels) - {*classes, OTHERS}):
        hint = did_you_mean(unknown[0], sorted(classes))
        raise InputError(file, f"label {unknown[0]!r} is no class of the seeds; {hint}")


def _holds_judgements(file: Path) -> bool:
    """Whether a CSV file has task names instead of turns."""
    if file.suffix != ".csv" or not file.is_file():
        return False
    with file.open(encoding="utf-8-sig") as lines:
        columns = {name.strip().strip('"') for name in next(lines, "").split(",")}
    return {"task", "label"} <= columns and not columns & {"text", "turns", "turn1"}


def with_judged(seeds: Seeds, judged: Seeds) -> dict[str, list[Dialogue]]:
    """Add judged dialogues to the seeds: emotional ones as seeds, the others as counterexamples.

    Like all seeds, judged dialogues are left out of the next candidates.

    >>> hi, ho = Dialogue.of(["hi"]), Dialogue.of(["ho"])
    >>> {name: len(each) for name, each in with_judged({"sad": [hi]}, {"sad": [hi, ho], "others": [ho]}).items()}
    {'sad': 2, 'others': 1}
    """
    return {
        name: list(dict.fromkeys([*seeds.get(name, ()), *judged.get(name, ())]))
        for name in dict.fromkeys([*seeds, *judged])
    }
