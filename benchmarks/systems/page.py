"""The generated sections of docs/results/systems.md, and the scores that `emoscope systems` shows."""

import json
import statistics
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.common.pages import write_section
from benchmarks.common.paths import PACKAGE, PAGES, RESULTS
from benchmarks.common.tables import Row, read_rows
from benchmarks.systems.job import FOLDS
from emoscope.evaluation.card import markdown_table
from emoscope.evaluation.results import ModelResults
from emoscope.models.former_names import current_names
from emoscope.systems import SYSTEMS
from emoscope.systems.base import SystemMetadata

TABLE = RESULTS / "systems.csv"
ON_CPU = RESULTS / "systems_cpu.csv"
LARGE = RESULTS / "models" / "large.json"
PAGE = PAGES / "systems.md"
MEASURED_SCORES = PACKAGE / "evaluation" / "assets" / "measured.json"
# The tasks by the names that cards give their data.
_TASK_OF = {"EmoContext": "emocontext", "EmotionX Friends": "emotionx-friends"}
_TASK_OF |= {"EmotionX EmotionPush": "emotionx-push", "IEST": "iest"}

Results = dict[str, list[Row]]  # of each system on one task


def render() -> None:
    """Write all sections from the results."""
    rows = read_rows(TABLE)
    by_task: dict[str, Results] = {}
    for name in SYSTEMS:
        for task in SYSTEMS[name].metadata.tasks:
            mine = [row for row in rows if (row["system"], row["task"]) == (name, task)]
            by_task.setdefault(task, {})[name] = mine
    for task, results in by_task.items():
        write_section(PAGE, task, _score_table(task, {name: mine for name, mine in results.items() if mine}))
    write_section(PAGE, "differences", "\n".join(_differences(rows)))
    write_section(PAGE, "cpu", "\n".join(_cpu_times()))
    _write_measured(by_task)


def _score_table(task: str, results: Results) -> str:
    """The systems of a task, in the order of their published scores."""
    scores = {"score": "score"}
    if task == "emocontext":
        scores |= {"prior kept": "score_uncorrected", "prior corrected": "score_corrected"}
    rows = []
    for name in sorted(results, key=lambda name: -SYSTEMS[name].metadata.published.get(task, 0)):
        metadata, mine = SYSTEMS[name].metadata, results[name]
        scored = sum("score" in row for row in mine)
        paper = metadata.published.get(task)
        seconds = statistics.median(row["seconds"] for row in mine)
        rows.append(
            [
                f"[{name}](#{name})" if list(_deviations(metadata, mine)) else name,
                *(_mean(mine, column) for column in scores.values()),
                str(scored) if task == "emocontext" else f"{scored} of {FOLDS}",
                f"{paper:.4f}" if paper else "-",
                f"{seconds:,.0f} s, {mine[0]['device']}",
            ]
        )
    return markdown_table(["system", *scores, "runs" if task == "emocontext" else "folds", "paper", "training"], rows)


def _mean(rows: Sequence[Row], column: str) -> str:
    values = [row[column] for row in rows if column in row]
    if not values:
        return "-"
    spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4f}{spread}"


def _differences(rows: Sequence[Row]) -> Iterator[str]:
    """For each system a heading, and a list of what was substituted, what differs and which settings changed."""
    for name in SYSTEMS:
        mine = [row for row in rows if row["system"] == name]
        if items := list(_deviations(SYSTEMS[name].metadata, mine)):
            yield from (f"### {name}", "", *(f"- {item}" for item in items), "")


def _deviations(metadata: SystemMetadata, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    if metadata.likely_cause:
        gaps = "; ".join(gap for task in metadata.published if (gap := _gap(metadata, task, rows)))
        yield f"**{gaps}**; the likely cause: {metadata.likely_cause}"
    yield from (each.replace(": ", " → ", 1) for each in metadata.substitutions)
    yield from metadata.differences
    if changed := sorted({setting for row in rows for setting in _settings(row)}):
        yield f"settings: {_code(changed)}"
    yield from sorted({row["note"] for row in rows if "note" in row})


def _gap(metadata: SystemMetadata, task: str, rows: Sequence[Row]) -> str:
    """How far the score is from the paper's, also with the class prior corrected; empty if there is no score."""
    mine = [row for row in rows if row["task"] == task]

    def distance(column: str) -> str:
        values = [row[column] for row in mine if column in row]
        points = 100 * (statistics.mean(values) - metadata.published[task]) if values else 0.0
        return f"{abs(points):.1f} points {'below' if points < 0 else 'above'} the paper" if values else ""

    gap, corrected = distance("score"), distance("score_corrected")
    where = f" on {task}" if gap and len(metadata.published) > 1 else ""
    return (
        gap
        + where
        + (
            f", {corrected.removesuffix(' the paper')} with the class prior corrected"
            if corrected not in ("", gap)
            else ""
        )
    )


def _settings(row: Row) -> list[str]:
    """The changed settings of a run, under their current names."""
    return [f"{name}={value}" for name, value in current_names(row["settings"]).items()]


def _code(settings: Iterable[str]) -> str:
    return ", ".join(f"`{setting}`" for setting in settings)


def _cpu_times() -> Iterator[str]:
    """The table of `benchmarks.systems.cpu`, and the settings that were made smaller."""
    by_system: dict[tuple[str, str], list[Row]] = {}
    for row in read_rows(ON_CPU):
        by_system.setdefault((row["system"], row["task"]), []).append(row)
    rows = []
    for (name, task), mine in by_system.items():
        shares = ", ".join(f"{row['share']:g}: {row['seconds']:,.0f} s" for row in mine)
        rows.append([name, task, shares, f"{mine[0]['seconds_for_all']:,}"])
    yield markdown_table(["system", "task", "shares measured", "seconds for all"], rows)
    yield ""
    for (name, _), mine in by_system.items():
        if settings := _settings(mine[0]):
            yield f"- {name}: {_code(settings)}"


def published_large() -> dict[str, float]:
    """The scores of the blend whose labels are in benchmarks/blind, by task, as its card has them."""
    heads = ModelResults.model_validate_json(LARGE.read_text(encoding="utf-8")).heads
    return {_TASK_OF[head.data]: head.score for head in heads}


def _write_measured(by_task: dict[str, Results]) -> None:
    """Write the scores that `emoscope systems` shows next to the papers'; those of `large` are its card's."""
    measured: dict[str, Row] = {}
    published = published_large()
    for name in SYSTEMS:
        for task in SYSTEMS[name].metadata.tasks:
            scores = [row["score"] for row in by_task[task][name] if "score" in row]
            if name == "large" and task in published:
                scores = [published[task]]
            if scores:
                measured.setdefault(name, {})[task] = {
                    "score": round(statistics.mean(scores), 4),
                    "spread": round(statistics.stdev(scores), 4) if len(scores) > 1 else None,
                    "runs": len(scores),
                    "data": "dev" if task == "emocontext" else "folds of the training data",
                }
    MEASURED_SCORES.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
