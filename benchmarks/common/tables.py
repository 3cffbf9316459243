"""Result files: a CSV table for each benchmark, a row for each measurement; JSON where a table does not fit."""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def read_rows(path: Path) -> list[Row]:
    """The rows of a table; cells without a value are left out. No file is an empty table."""
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as handle:
        return [{name: _value(cell) for name, cell in row.items() if cell} for row in csv.DictReader(handle)]


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> None:
    """Write a table; its columns are `columns`, then the rows' other keys in order of appearance."""
    rows = list(rows)
    columns = list(dict.fromkeys([*columns, *(name for row in rows for name in row)]))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_cell(row.get(name)) for name in columns] for row in rows)


def replace_row(path: Path, row: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Add a row to a table, in place of the one with the same keys; the table stays sorted by them."""
    others = [each for each in read_rows(path) if any(each[key] != row[key] for key in keys)]
    write_rows(path, sorted([*others, row], key=lambda each: [each[key] for key in keys]), _columns(path))


def read_json(path: Path) -> dict[str, Any]:
    """The results of a JSON file."""
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def write_json(path: Path, results: Any) -> None:
    """Write results that are not a table."""
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _columns(path: Path) -> list[str]:
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as handle:
        return next(csv.reader(handle), [])


def _cell(value: Any) -> str:
    """A text as it is, all else as JSON; a text that reads as JSON is quoted."""
    if value is None:
        return ""
    return value if isinstance(value, str) and _value(value) == value else json.dumps(value, ensure_ascii=False)


def _value(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return cell
