"""Where the repository keeps data, results and pages."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGES = ROOT / "docs" / "results"
PACKAGE = ROOT / "src" / "emoscope"
