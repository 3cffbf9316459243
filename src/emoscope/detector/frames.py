"""Tables in memory: a pandas or polars DataFrame, a pyarrow Table or a Hugging Face Dataset in, the same kind out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from emoscope.core.dialogue import Detection, DialogueLike
from emoscope.core.errors import EmoscopeError
from emoscope.tables.turns import EXPECTED, row_dialogue, turn_columns
from emoscope.tables.writing import detection_names

if TYPE_CHECKING:
    from emoscope.detector.detector import Detector

# How a column is read as a list, by the package of the frame's class.
_READ: Mapping[str, Callable[[Any, str], Sequence[Any]]] = {
    "pandas": lambda frame, name: [None if _missing(cell) else cell for cell in frame[name].tolist()],
    "polars": lambda frame, name: frame[name].to_list(),
    "pyarrow": lambda frame, name: frame[name].to_pylist(),
    "datasets": lambda frame, name: frame[name][:],
}


def with_answers(detector: "Detector", frame: Any, *, column: str | None, batch: int, progress: Any) -> Any:
    """The frame with columns for the label, whether input was cut, a note, and each label's score."""
    kind = type(frame).__module__.partition(".")[0]
    if kind not in _READ or not (hasattr(frame, "columns") or hasattr(frame, "column_names")):
        known = "a pandas or polars DataFrame, a pyarrow Table or a Hugging Face Dataset"
        raise EmoscopeError(f"expected {known}, not {type(frame).__module__}.{type(frame).__name__}")
    columns = list(frame.columns if kind in ("pandas", "polars") else frame.column_names)
    if column is not None and column not in columns:
        raise EmoscopeError(f"the table has no column {column!r}; it has: {', '.join(map(str, columns))}")
    names = [column] if column is not None else turn_columns([str(name) for name in columns])
    if not names:
        raise EmoscopeError(f"{EXPECTED}, or name the column; found {', '.join(map(str, columns))}")
    cells = list(zip(*(_READ[kind](frame, name) for name in names), strict=True))
    detections = list(detector.detect_many(_Dialogues(names, cells, column), batch=batch, progress=progress))
    return _added(kind, frame, _answer_columns(detector, detections, [str(name) for name in columns]))


class _Dialogues(Sequence[DialogueLike]):
    """The dialogues of rows, created on access."""

    def __init__(self, names: Sequence[str], cells: Sequence[Sequence[Any]], column: str | None) -> None:
        self.names, self.cells, self.column = names, cells, column

    def __len__(self) -> int:
        return len(self.cells)

    def __getitem__(self, row: Any) -> Any:
        values = (cell.tolist() if hasattr(cell, "tolist") else cell for cell in self.cells[row])
        try:
            return row_dialogue(dict(zip(self.names, values, strict=True)), self.column)
        except EmoscopeError as error:
            raise EmoscopeError(f"row {row + 1:,}: {error}") from None


def _answer_columns(detector: "Detector", found: Sequence[Detection], taken: Sequence[str]) -> dict[str, list[Any]]:
    def values() -> Iterator[list[Any]]:
        yield [each.label for each in found]
        yield [each.truncated for each in found]
        yield [each.note for each in found]
        yield from ([each.scores[label] for each in found] for label in detector.labels)

    return dict(zip(detection_names(detector.labels, taken), values(), strict=True))


def _added(kind: str, frame: Any, answers: Mapping[str, list[Any]]) -> Any:
    match kind:
        case "pandas":
            return frame.assign(**answers)
        case "polars":
            import polars as pl

            # Named types, so that a table without rows gets the same columns.
            types = [pl.String, pl.Boolean, pl.String, *[pl.Float64] * len(answers)]
            columns = zip(answers.items(), types, strict=False)
            return frame.with_columns([pl.Series(name, values, dtype=dtype) for (name, values), dtype in columns])
        case "pyarrow":
            import pyarrow as pa

            types = [pa.string(), pa.bool_(), pa.string(), *[pa.float64()] * len(answers)]
            for (name, values), dtype in zip(answers.items(), types, strict=False):
                frame = frame.append_column(name, pa.array(values, dtype))
            return frame
    for name, values in answers.items():
        frame = frame.add_column(name, values)
    return frame


def _missing(cell: Any) -> bool:
    """Whether a cell is one of pandas' missing values."""
    return cell is None or (not isinstance(cell, str | list) and not hasattr(cell, "tolist") and bool(cell != cell))  # noqa: PLR0124
