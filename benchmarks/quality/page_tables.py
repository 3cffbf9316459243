"""The tables of docs/results/quality.md."""

from collections.abc import Sequence

from benchmarks.common.tables import Row
from emoscope.core.frozen import FrozenModel
from emoscope.evaluation.card import bullets, four, markdown_table, span
from emoscope.evaluation.results import ModelResults


def overview(found: Sequence[ModelResults]) -> str:
    """The scores of all models, grouped by data."""
    rows = [
        (
            (head.head, head.data, head.split),
            [
                head.head,
                f"{head.data}, {head.split}",
                results.name,
                f"{head.n:,}",
                head.metric,
                four(head.score),
                span(head.interval),
                four(head.accuracy),
                four(head.macro_f1),
                four(head.ece),
            ],
        )
        for results in found
        for head in results.heads
    ]
    rows.sort(key=lambda row: row[0])
    columns = ["labels", "data", "model", "items", "metric", "score", "interval", "accuracy", "macro-F1", "ECE"]
    return markdown_table(columns, [cells for _, cells in rows])


def notes(found: Sequence[ModelResults]) -> list[str]:
    """The data's notes, each once."""
    lines = dict.fromkeys(
        f"{head.data}, {head.split}: {note}." for each in found for head in each.heads for note in head.notes
    )
    return [bullets(list(lines))] if lines else []


def slices(found: Sequence[ModelResults]) -> str:
    """Scores by text feature, with a column for each feature."""
    names = list(dict.fromkeys(part.name for each in found for head in each.heads for part in head.slices))
    rows = []
    for each in found:
        for head in each.heads:
            parts = {part.name: part for part in head.slices}
            cells = [
                "-"
                if name not in parts
                else f"{four(score)} (n={parts[name].n:,})"
                if (score := parts[name].score) is not None
                else f"(n={parts[name].n:,})"
                for name in names
            ]
            rows.append([head.head, f"{head.data}, {head.split}", each.name, four(head.score), *cells])
    return markdown_table(["labels", "data", "model", "all", *names], sorted(rows))


def checks(found: Sequence[ModelResults]) -> str:
    """The hand-written checks, with a column for each kind."""
    kinds = list(dict.fromkeys(check.kind for each in found for check in each.checks))
    rows = []
    for each in found:
        for head in dict.fromkeys(check.head for check in each.checks):
            mine = {check.kind: check for check in each.checks if check.head == head}
            total = f"{sum(check.right for check in mine.values())} of {sum(check.n for check in mine.values())}"
            cells = [f"{mine[kind].right} of {mine[kind].n}" if kind in mine else "-" for kind in kinds]
            rows.append([each.name, head, total, *cells])
    return markdown_table(["model", "labels", "all", *kinds], rows)


def behaviour(found: Sequence[ModelResults]) -> str:
    """The behaviour suite, with a column for each model and label set."""
    columns: dict[str, dict[tuple[str, str], str]] = {}
    for each in found:
        for figure in each.behaviour:
            passed = f"{figure.passed} of {figure.n}" if figure.n else "-"
            columns.setdefault(f"{each.name}, {figure.head}", {})[figure.type, figure.kind] = passed
    rows = list(dict.fromkeys(row for cells in columns.values() for row in cells))
    cells = [[*row, *(column.get(row, "-") for column in columns.values())] for row in rows]
    return markdown_table(["type", "kind", *columns], cells)


def quantisation(measured: Sequence[Row]) -> str:
    """The scores in single precision and in int8."""
    rows = [
        [
            row["model"],
            row["task"],
            row["data"],
            f"{row['items']:,}",
            four(row["single"]),
            four(row["int8"]),
            f"{100 * (row['int8'] - row['single']):+.2f}",
            f"{row['same_labels']:.2%}",
        ]
        for row in measured
    ]
    columns = ["model", "task", "data", "items", "single precision", "int8", "difference, points", "same labels"]
    return markdown_table(columns, rows)


class Trial(FrozenModel):
    """An experiment: the scores before and after, and whether the change was kept."""

    idea: str
    task: str
    metric: str
    before: float
    after: float
    runs: int
    kept: bool
    spread: float | None = None  # the standard deviation over the runs
    note: str = ""


def trials(log: Sequence[Trial]) -> str:
    """All experiments by model, each as a list of its results; "the same" continues the experiment before it."""
    lists: dict[str, list[str]] = {model: [] for model in ("default", "open", "nano", "large", "language model")}
    mine, idea = lists["default"], ""
    for trial in log:
        model, _, text = trial.idea.partition(": ")
        if model not in lists:
            model, text = "language model", trial.idea
        if text not in ("the same", idea):
            mine, idea = lists[model], text
            mine.append(f"- **{idea}**")
        spread = "" if trial.spread is None else f" ± {four(trial.spread)}"
        gain, runs = f"{trial.after - trial.before:+.4f}", f", {trial.runs} runs" if trial.runs > 1 else ""
        result = f"{trial.task}, {trial.metric}: {four(trial.before)} → {four(trial.after)}{spread} ({gain}{runs})"
        kept = "kept" if trial.kept else "not kept"
        mine.append(f"    - {result}, {kept}" + (f"; {trial.note}" if trial.note else ""))
    return "\n\n".join(f"### {model}\n\n" + "\n".join(lines) for model, lines in lists.items() if lines)
