"""The published results of a task as tables: `emoscope tasks NAME --published`."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from emoscope.cli.output import table
from emoscope.tasks.published import Published, PublishedClassScores, PublishedConfusion, ScoreDistribution


def published_tables(results: Published) -> Iterator[RenderableType]:
    """The ranking and, where the paper has them, statistics, the scores of each class and confusion matrices."""
    yield _titled(f"{results.source.table}: {results.metric} on {results.split_name}", _ranking(results))
    if results.statistics is not None:
        yield _titled(f"{results.statistics.source.table}: all participants", _statistics(results.statistics))
    if results.class_source is not None:
        yield _titled(f"{results.class_source.table}: precision, recall and F1 of each class", _classes(results))
    for confusion in results.confusions:
        title = f"{confusion.source.table}: {confusion.name} on {confusion.source.split}, gold in rows"
        yield _titled(title, _confusion(confusion), confusion.note)
    notes = [results.note, *(f"{entry.name}: {entry.note}" for entry in results.entries if entry.note)]
    yield Text("\n".join([*notes, results.source.paper]), style="dim")


def _titled(title: str, shown: Table, note: str | None = None) -> Group:
    # rich would wrap a table's own title at the width of the table.
    return Group(Text(title, style="bold"), shown, *([] if note is None else [Text(note, style="dim")]))


def _ranking(results: Published) -> Table:
    column_b = any(entry.first_different is not None for entry in results.entries)
    # Column B refers to the table's own row numbers.
    columns = ["rank", "system", "score"] if not column_b else ["row", "rank", "system", "score", "B"]
    rows = []
    for entry in results.entries:
        score = None if entry.score is None else f"{entry.score:.{results.decimals}f}"
        row = [entry.rank, escape(entry.name), score]
        rows.append(row if not column_b else [entry.id, *row, entry.first_different])
    return table(None, columns, rows, left=columns.index("score"))


def _statistics(statistics: ScoreDistribution) -> Table:
    figures = statistics.model_dump(exclude={"source"})
    return table(None, [name.replace("_", " ") for name in figures], [list(figures.values())], left=0)


def _classes(results: Published) -> Table:
    labels = list(results.entries[0].per_class)
    every = [figure for entry in results.entries for scores in entry.per_class.values() for figure in scores]
    decimals = max(len(str(figure)) - len("0.") for figure in every)  # as printed
    rows = [
        [escape(entry.name), *(_figures(entry.per_class.get(label), decimals) for label in labels)]
        for entry in results.entries
    ]
    return table(None, ["system", *labels], rows, left=len(labels) + 1, no_wrap=range(1, len(labels) + 1))


def _figures(scores: PublishedClassScores | None, decimals: int) -> str | None:
    return None if scores is None else "  ".join(f"{figure:.{decimals}f}" for figure in scores)


def _confusion(confusion: PublishedConfusion) -> Table:
    rows = [[label, *counts] for label, counts in zip(confusion.labels, confusion.counts, strict=True)]
    return table(None, ["", *confusion.labels], rows)
