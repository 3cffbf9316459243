"""Where results, words about models and pages lie."""

from benchmarks.common import paths

TABLES = paths.RESULTS  # speed.csv, quantisation.csv and tried.csv
RESULTS = TABLES / "models"
ABOUT = paths.ROOT / "benchmarks" / "models"
PAGES = paths.PAGES
ASSETS = paths.PACKAGE / "detector" / "assets"
