"""The notebooks run from top to bottom, without the benchmark data."""

from pathlib import Path

import pytest

pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("altair")

from tools.notebooks import NOTEBOOKS, run_notebook

PAGES = sorted(NOTEBOOKS.glob("*.ipynb"))
pytestmark = [
    pytest.mark.skipif(not PAGES, reason="the pages are not in the package"),
    pytest.mark.filterwarnings("ignore"),
]


def test_there_are_three() -> None:
    assert [page.stem for page in PAGES] == ["corpus", "emocontext-row", "own-chat"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_notebook_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMOSCOPE_DATA", str(tmp_path / "none"))
    monkeypatch.setenv("PYTHONWARNINGS", "default")
    notebook = run_notebook(page, tmp_path)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    shown = "".join(str(cell.outputs) for cell in cells)
    wanted = {"corpus": "Fleiss' kappa", "emocontext-row": "made-up data", "own-chat": "<svg"}
    assert wanted[page.stem] in shown
