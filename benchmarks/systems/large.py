"""Add results of `tools/train_large.py` or `tools/merge_large.py` to benchmarks/results.

    python -m benchmarks.systems.large OUT/emocontext.json [OUT/iest.json ...] --run seed4

A run's results go to large.csv under the name `--run`, a blend's to large_blends.csv.
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.common.options import command_line
from benchmarks.common.paths import RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import Row, replace_row

RUNS, BLENDS = RESULTS / "large.csv", RESULTS / "large_blends.csv"


def run_row(result: dict[str, Any], run: str) -> Row:
    """One run as a row of its table."""
    row = {"task": result["task"], "run": run}
    row |= {name: result[name] for name in ("seed", "examples", "with_dev", "seconds")}
    for split in ("held_out", "dev"):
        scores = result.get(split) or {}
        row |= {split: scores.get("score")}
        row |= {f"{split}_{name}": scores.get(name) for name in ("most_likely", "members")}
    return row | {name: result[name] for name in ("weights", "bias", "decision", "settings")}


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--run", help="name of the run; not needed for a blend")
    options = parser.parse_args()
    for path in options.results:
        result = json.loads(path.read_text(encoding="utf-8"))
        if "blend" in result:
            replace_row(BLENDS, {name: value for name, value in result.items() if name != "system"}, ["task"])
            keep(
                BLENDS, made(result.get("seeds"), note="each row has the seeds of its runs; settings are in large.csv")
            )
        elif options.run is None:
            parser.error(f"{path} is a run: name it with --run")
        else:
            replace_row(RUNS, run_row(result, options.run), ["task", "run"])
            keep(RUNS, made(note="each row has its seed and settings"))


if __name__ == "__main__":
    main()
