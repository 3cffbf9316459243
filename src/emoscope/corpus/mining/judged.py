"""Active learning: use judgements of earlier candidates in the next round of mining."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import InputError, did_you_mean
from emoscope.corpus.annotation.aggregate import Method, aggregate
from emoscope.corpus.annotation.files import read_annotations
from emoscope.corpus.mining.mine import OTHERS, read_seeds
from emoscope.tables import PIPE, read_records

Seeds = Mapping[str, Sequence[Dialogue]]


def read_judged(path: str | Path, pool: str, classes: Collection[str], format: str | None = None) -> Seeds:
    """Read the dialogues of each label from a table with turns and `label`, or from judgements of the pool's ids.

    The labels are those of the seeds, `classes`, and `others`. A dialogue with several judges gets the label of the
    absolute majority; without one, it is left out.
    """
    file = Path(path)
    tabled = not file.is_dir() and not _holds_judgements(file)
    judged = read_seeds(file, any_class=True) if tabled else _judged_in_pool(file, pool, format)
    if unknown := sorted(set(judged) - {*classes, OTHERS}):
        hint = did_you_mean(unknown[0], sorted(classes))
        raise InputError(file, f"label {unknown[0]!r} is no class of the seeds; {hint}")
    return judged


def _judged_in_pool(file: Path, pool: str, format: str | None) -> Seeds:
    results = aggregate(read_annotations([file]).judgements, Method.absolute)
    labels = {result.task: result.label for result in results if not result.fallback}
    judged: dict[str, list[Dialogue]] = {}
    for record in read_records(pool, format) if pool != PIPE else ():
        label = labels.get(str(record.columns.get("id", "")))
        if label is not None:
            judged.setdefault(label, []).append(record.dialogue)
    if not judged:
        raise InputError(
            file, f"none of its tasks is an `id` of {pool}; give the candidates themselves, with a column 'label'"
        )
    return judged


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
