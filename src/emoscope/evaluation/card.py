"""A model card in Markdown, generated from measured results."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from emoscope.core.significance import Interval
from emoscope.evaluation.results import BehaviourFigures, HeadResults, ModelResults, read_results

CARD, CARD_JSON = "card.md", "card.json"


def terms_of(folder: Path) -> str | None:
    """The terms of use of a model's weights, from its card; None if it has no card.

    >>> from emoscope.detector.bundle import resolve
    >>> terms_of(resolve("open")).split(",")[0]
    'Any use'
    """
    path = folder / CARD_JSON
    terms = read_results(path).about.terms if path.is_file() else None
    return " ".join(f"{terms.use} {terms.why}".split()) if terms else None


def card_of(folder: Path) -> str | None:
    """A model's card in Markdown; None if it has none.

    >>> from emoscope.detector.bundle import resolve
    >>> card_of(resolve("nano")).splitlines()[0]
    '# Model card: `nano`'
    """
    path = folder / CARD
    return path.read_text(encoding="utf-8") if path.is_file() else None


def card_text(results: ModelResults) -> str:
    """The model card of measured results.

    >>> print(card_text(results))  # doctest: +SKIP
    # Model card: default
    ...
    """
    about = results.about
    size = "" if results.size_bytes is None else f", {megabytes(results.size_bytes)} MB"
    notes = list(_notes(results.heads))
    parts = [
        f"# Model card: `{results.name}`",
        about.summary,
        f"Version {results.version}{size}. Measured with {results.measured_with}.",
        *([f"## May I use it?\n\n**{about.terms.use}** {about.terms.why}"] if about.terms else []),
        "## Intended use",
        bullets(about.intended_use),
        "## Limits",
        bullets(about.limits),
        "## Scores",
        _score_table(results.heads),
        *([bullets(notes)] if notes else []),
        _SCORES_NOTE,
    ]
    for head in results.heads:
        parts += [f"### {head.head} on {head.data}, {head.split}", _class_table(head)]
        if head.slices:
            parts += ["Scores by text feature:", _slice_table(head)]
    if results.checks:
        parts += ["## Hand-written checks", _CHECKS_NOTE, _check_table(results)]
    if results.behaviour:
        parts += ["## Behaviour suite", _behaviour_note(results.behaviour[0].head), behaviour_table(results.behaviour)]
    if results.speed is not None:
        figures = [[figure.name, f"{significant(figure.value)} {figure.unit}"] for figure in results.speed.figures]
        parts += ["## Speed", f"Measured on {results.speed.machine}.", markdown_table(["measure", "value"], figures)]
    rows = [[data.name, data.use, whole(data.items), data.terms] for data in about.training_data]
    parts += ["## Training data", markdown_table(["data", "used for", "items", "terms"], rows)]
    if results.learnt is not None:
        sources = [[name, whole(count)] for name, count in results.learnt.sources.items()]
        taught = any(name.startswith("teacher: ") for name in results.learnt.sources)
        through = ", itself or through its teachers" if taught else ""
        parts += [
            f"The model has a record of the {whole(results.learnt.items)} labelled items it was trained on{through}, "
            "so that `emoscope predict` and `evaluate` can warn if it is scored on them. Examples by source:",
            markdown_table(["source", "examples"], sources),
        ]
    return "\n\n".join(parts) + "\n"


_SCORES_NOTE = (
    "Intervals are bootstrapped over the items. ECE is the expected calibration error; in brackets, before the "
    "probabilities are corrected for the class prior of real traffic."
)
_CHECKS_NOTE = (
    "Short hand-written dialogues, by what makes them hard, and how many get an answer that a reader would accept. "
    "They are too few to rank models."
)


def _score_table(heads: Sequence[HeadResults]) -> str:
    columns = ["labels", "data", "split", "items", "metric", "score", _interval_head(*heads), "accuracy", "macro-F1"]
    rows = []
    for head in heads:
        scores = [four(head.score), span(head.interval), four(head.accuracy), four(head.macro_f1), four(head.ece)]
        if head.ece_training_prior is not None:
            scores[-1] += f" ({four(head.ece_training_prior)})"
        rows.append([head.head, head.data, head.split, whole(head.n), head.metric, *scores])
    return markdown_table([*columns, "ECE"], rows)


def _class_table(head: HeadResults) -> str:
    rows = [
        [label, four(scores.precision), four(scores.recall), four(scores.f1), whole(scores.support)]
        for label, scores in head.per_class.items()
    ]
    return markdown_table(["label", "precision", "recall", "F1", "items"], rows)


def _slice_table(head: HeadResults) -> str:
    rows = [
        [part.name, whole(part.n), "-" if part.score is None else four(part.score), span(part.interval)]
        for part in head.slices
    ]
    return markdown_table(["text with", "items", head.metric, _interval_head(head)], rows)


def _check_table(results: ModelResults) -> str:
    heads = list(dict.fromkeys(check.head for check in results.checks))
    kinds = list(dict.fromkeys(check.kind for check in results.checks))
    cells = {(check.head, check.kind): f"{check.right} of {check.n}" for check in results.checks}
    rows = [[kind, *(cells.get((head, kind), "-") for head in heads)] for kind in kinds]
    return markdown_table(["kind", *heads], rows)


def _behaviour_note(head: str) -> str:
    return (
        f"Passed cases, with the default labels `{head}`. Functionality: the answer is one that a reader would accept. "
        "Invariance: an edit that keeps the meaning keeps the label. Direction: an edit that changes the meaning moves "
        "the probability the right way. No model is trained on the suite. Cases that the labels cannot express are "
        "skipped. Run it with `emoscope behaviour`."
    )


def behaviour_table(figures: Sequence[BehaviourFigures]) -> str:
    """The behaviour figures of the first label set, with a row for each type and kind.

    >>> one = {"head": "ekman", "type": "all", "kind": "all", "n": 9, "passed": 8, "skipped": 1}
    >>> print(behaviour_table([BehaviourFigures(**one, level=0.95, low=0.5, high=0.9)]).splitlines()[-1])
    | all | all | 8 of 9 | 0.5000 to 0.9000 | 1 |
    """
    own = [figure for figure in figures if figure.head == figures[0].head]
    rows = [
        [
            each.type,
            each.kind,
            f"{each.passed} of {each.n}",
            f"{four(each.low)} to {four(each.high)}",
            whole(each.skipped),
        ]
        for each in own
    ]
    columns = ["type", "kind", "passed", f"{percent(own[0].level)} % interval", "skipped"]
    return markdown_table(columns, rows)


def markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table with columns of numbers aligned right.

    >>> print(markdown_table(["label", "F1"], [["sad", "0.7"]]))
    | label | F1 |
    |---|---:|
    | sad | 0.7 |
    """
    rule = "".join(_alignment([row[number] for row in rows]) for number in range(len(columns)))
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *escaped)]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])


def _alignment(cells: Sequence[str]) -> str:
    values = [cell for cell in cells if cell not in ("", "-")]
    return "---:|" if values and all(re.match(r"[-+(*]*\d", cell) for cell in values) else "---|"


def bullets(lines: Sequence[str]) -> str:
    """A list."""
    return "\n".join(f"- {line}" for line in lines)


# How numbers are written


def four(value: float) -> str:
    """A score."""
    return f"{value:.4f}"


def span(interval: Interval | None) -> str:
    """An interval."""
    return "-" if interval is None else f"{four(interval.low)} to {four(interval.high)}"


def megabytes(size: int) -> str:
    """A size in millions of bytes."""
    return f"{size / 1e6:.1f}"


def significant(value: float) -> str:
    """A measured value, three digits of it.

    >>> significant(12345.6), significant(0.64312), significant(3.0)
    ('12,346', '0.643', '3')
    """
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def whole(value: int | None) -> str:
    """A count."""
    return "-" if value is None else f"{value:,}"


def percent(level: float) -> str:
    """A share in percent."""
    return f"{level * 100:g}"


def _interval_head(*heads: HeadResults) -> str:
    levels = {head.interval.level for head in heads}
    return f"{percent(*levels)} % interval" if len(levels) == 1 else "interval"


def _notes(heads: Sequence[HeadResults]) -> Iterator[str]:
    for head in heads:
        notes = list(head.notes)
        if head.seeds:
            scores = f": {', '.join(map(four, head.seed_scores))}" if head.seed_scores else ""
            notes.append(f"seeds {', '.join(map(str, head.seeds))}{scores}")
        if notes:
            yield f"{head.head} on {head.data}: {'; '.join(notes)}."
