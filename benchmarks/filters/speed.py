"""Dialogues per second and peak memory of each filter and of all together, each in its own process."""

import tempfile
import time
from pathlib import Path

from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.processes import module_output
from emoscope.corpus.filters.sensitive import STANDARD
from emoscope.corpus.filters.standard import standard_filters
from emoscope.corpus.filters.table import filter_table


def one_speed(data: Path, options: str) -> None:
    """One run of the filters in this process, on EmoContext's training dialogues."""
    offensive, sensitive, personal, language = options.split(",")
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        filters = standard_filters(
            languages=None if language == "off" else [language],
            offensive=offensive == "drop",
            topics=None if sensitive == "off" else STANDARD,
            personal=personal,  # type: ignore[arg-type]
        )
        ready = time.perf_counter()
        report = filter_table(str(data / "emocontext/train.txt"), Path(folder) / "out", filters)
        done = time.perf_counter()
    peak = peak_memory() / MB
    print(
        f"{report.read:,} | {report.kept:,} | {ready - begun:.1f} | {report.read / (done - ready):,.0f} | {peak:,.0f}"
    )


def speed(data: Path) -> None:
    print("| filters | dialogues | kept | start-up, s | dialogues/s | peak MB |\n|---" + "|---:" * 5 + "|")
    for name, options in (
        ("language", "off,off,off,en"),
        ("offensive", "drop,off,off,off"),
        ("sensitive", "off,all,off,off"),
        ("personal, drop", "off,off,drop,off"),
        ("personal, mask", "off,off,mask,off"),
        ("all, mask", "drop,all,mask,en"),
    ):
        printed = module_output("benchmarks.filters", "one", "--data", data, "--filters", options)
        print(f"| {name} | {printed.strip()} |", flush=True)
