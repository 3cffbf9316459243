"""The recipes of docs/guide/dataframes.md, each as a script of its own, where its package is installed."""

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.dataset
import pytest

import emoscope
from kits.score_kit import chats, write_parquet

PAGE = Path(__file__).parents[2] / "docs" / "guide" / "dataframes.md"
RECIPES = dict(
    re.findall(r"^## (\w+)\n\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
)
PACKAGES = {"Spark": "pyspark", "DuckDB": "duckdb", "Dask": "dask"}


def test_there_is_one_for_each() -> None:
    assert list(RECIPES) == ["pandas", "polars", "DuckDB", "Dask", "Spark", "datasets"]


@pytest.mark.parametrize("tool", list(RECIPES))
def test_a_recipe_gives_the_labels_of_the_detector(tool: str, tmp_path: Path) -> None:
    if find_spec(PACKAGES.get(tool, tool)) is None:
        pytest.skip(f"{tool} is not installed")
    if tool == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    rows = chats(300)
    write_parquet(tmp_path / "chats.parquet", rows, row_group_size=100)
    (tmp_path / "recipe.py").write_text(RECIPES[tool], encoding="utf-8")
    variables = {"HF_HOME": str(tmp_path / "cache"), "HF_HUB_OFFLINE": "1", "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "recipe.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path))), **variables},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = pyarrow.dataset.dataset(tmp_path / "scored.parquet").to_table().sort_by("id")
    assert found.column("id").to_pylist() == list(range(300))
    detector = emoscope.load()
    expected = [each.label for each in detector.detect_many([row["turns"] for row in rows])]
    assert found.column("label").to_pylist() == expected
