"""The rows that `python -m benchmarks.scale` scores, and what users would write instead of `emoscope score`.

python -m benchmarks.scale.jobs pandas|ray-data INPUT OUTPUT --model FOLDER --workers N
"""

import argparse
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emoscope.core.extras import require

CHUNK = 50_000


def write_rows(path: Path, turns: Sequence[Sequence[str]], rows: int) -> None:
    """A table of dialogues whose turns are drawn from real ones, each turn for itself: hardly any occurs twice."""
    pa, pq = require("pyarrow", extra="scale"), require("pyarrow.parquet", extra="scale")
    source = random.Random(0)
    columns: list[list[str]] = [list(column) for column in zip(*turns, strict=True)]
    schema = pa.schema([("id", pa.int64()), ("turns", pa.list_(pa.string()))])
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, CHUNK):
            count = min(CHUNK, rows - first)
            drawn = [source.choices(column, k=count) for column in columns]
            said = [list(each) for each in zip(*drawn, strict=True)]
            writer.write_table(pa.table([list(range(first, first + count)), said], schema=schema))


# What users would write instead


class Pipeline:
    """A transformers pipeline over tables of turns, as a class for Ray Data or called directly."""

    def __init__(self, folder: str, threads: int | None = None) -> None:
        import torch

        if threads is not None:
            torch.set_num_threads(threads)
        transformers = require("transformers", extra="train")
        self._classify = transformers.pipeline("text-classification", model=folder, device="cpu", top_k=None)

    def __call__(self, table: Any) -> Any:
        """The table with the answers beside its columns."""
        answers = self._classify([" ".join(turns) for turns in table["turns"]], batch_size=16)
        table["label"] = [max(each, key=lambda one: one["score"])["label"] for each in answers]
        for label in sorted(one["label"] for one in answers[0]):
            table[f"score_{label}"] = [next(o["score"] for o in each if o["label"] == label) for each in answers]
        return table


def with_pandas(source: str, target: str, model: str) -> None:
    pandas = require("pandas", extra="corpus")
    Path(target).mkdir(parents=True)
    Pipeline(model)(pandas.read_parquet(source)).to_parquet(f"{target}/scores.parquet")


def with_ray_data(source: str, target: str, model: str, workers: int) -> None:
    ray = require("ray", extra="ray")
    data = require("ray.data", extra="ray")
    # One more than there are models: reading and writing are tasks of their own, and would wait for a model to end.
    ray.init(num_cpus=workers + 1, include_dashboard=False, log_to_driver=False)
    rows = data.read_parquet(source)
    scored = rows.map_batches(
        Pipeline,
        fn_constructor_args=(model, 1),
        batch_format="pandas",
        batch_size=256,
        num_cpus=1,
        compute=data.ActorPoolStrategy(size=workers),
    )
    scored.write_parquet(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("pandas", "ray-data"))
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument("--model", required=True)
    parser.add_argument("--workers", type=int, required=True)
    options = parser.parse_args()
    if options.kind == "pandas":
        with_pandas(options.source, options.target, options.model)
    else:
        with_ray_data(options.source, options.target, options.model, options.workers)


if __name__ == "__main__":
    main()
