"""Runs the notebooks of the documentation and keeps their outputs: `python tools/notebooks.py [FILE...]`.

Set EMOSCOPE_DATA to the benchmark data, so that the row of the EmoContext table is the real one.
"""

import sys
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "docs" / "notebooks"


def run_notebook(path: Path, folder: Path) -> Any:
    """The notebook with what its cells print, run in a folder; a cell that fails is an error."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times, which differ from run to run
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    return notebook


def main() -> None:
    for path in map(Path, sys.argv[1:] or sorted(map(str, NOTEBOOKS.glob("*.ipynb")))):
        nbformat.write(run_notebook(path, NOTEBOOKS), path)  # type: ignore[no-untyped-call]
        print(path)


if __name__ == "__main__":
    main()
