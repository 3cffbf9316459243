"""What a run of a million tiny parts costs the process that keeps its books; for docs/guide/scale.md.

    python -m benchmarks.scale.million [--parts 1000000]

The parts themselves are not scored: their footers are what a worker would send. Measured are dividing the rows, adding
the footers, and the manifest, which is written once.
"""

import tempfile
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.options import command_line
from benchmarks.common.paths import RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.common.timing import Work, seconds
from emoscope.detector import load
from emoscope.scoring import manifest as manifests
from emoscope.scoring.manifest import PartCounts, write_manifest
from emoscope.scoring.output import MANIFEST, OutputFolder, scores_file
from emoscope.scoring.plan import PlannedFile, ScoringPlan
from emoscope.tables.inputs import InputFile


class Listed(OutputFolder):
    """A folder whose parts are there by name alone."""

    parts = 0
    written = 0

    def sizes(self, folder: str) -> dict[str, int]:
        del folder
        return {scores_file(part): 1000 for part in range(self.parts)}

    def write_json(self, name: str, value: Any) -> None:
        self.written += 1
        super().write_json(name, value)


def measure(parts: int) -> dict[str, float]:
    detector = load("nano")
    source = InputFile("chats.parquet", "parquet", parts, "")
    plan = ScoringPlan({}, [PlannedFile(source, parts, ())], [], 1, pa.schema([("text", pa.string())]))
    footer = {"scored": 1, "rejected": 0, "labels": dict.fromkeys(detector.labels, 0)}
    footer["sums"] = dict.fromkeys(detector.labels, 0.25)
    found: dict[str, float] = {}

    counts = PartCounts(parts, detector.labels)

    def timed(name: str, work: Work) -> None:
        found[name] = round(seconds(work, time.process_time), 2)

    def divide() -> None:
        assert plan.parts == parts

    def add() -> None:
        for part in range(parts):
            counts.add(part, footer)

    timed("seconds to divide", divide)
    timed("seconds to add", add)
    manifests._estimated_prior = lambda *_: {}  # there are no scores to read
    with tempfile.TemporaryDirectory() as folder:
        output = Listed(folder)
        output.parts = parts
        timed("seconds for the manifest", lambda: write_manifest(plan, output, detector, counts))
        found["times written"] = output.written
        found["MB of manifest"] = round((Path(folder) / MANIFEST).stat().st_size / 1e6, 1)
    found["MB at most"] = round(peak_memory() / MB)
    return found


def main() -> None:
    parser = command_line(__doc__)
    parser.add_argument("--parts", type=int, default=1_000_000)
    options = parser.parse_args()
    found = {"parts": options.parts, **measure(options.parts)}
    print(found)
    table = RESULTS / "scale_million.csv"
    write_rows(table, [found])
    keep(table, made(settings={"parts": options.parts}, note="all parts are made up; nothing is random"))


if __name__ == "__main__":
    main()
