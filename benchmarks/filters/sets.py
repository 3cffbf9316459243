"""Where the filters' sets and data are, and what all measurements of them share."""

from dataclasses import dataclass

from benchmarks.common.paths import PACKAGE, ROOT

SETS = ROOT / "benchmarks" / "filter_sets"
FILTERS = PACKAGE / "corpus" / "filters"
TWEETS = "auxiliary/tweeteval/offensive"
COMMENTS = "auxiliary/goemotions/original"
PARTS = ("tuned", "held out")  # looked at while the rules were written, and not


def lines_of(name: str, part: str) -> list[str]:
    """One part of a set."""
    return (SETS / f"{name}_{part.replace(' ', '_')}.txt").read_text(encoding="utf-8").splitlines()


@dataclass(slots=True)
class Tally:
    """Of one kind: how many there are, are covered whole, were found, and were found rightly."""

    there: int = 0
    covered: int = 0
    found: int = 0
    right: int = 0

    @property
    def recall(self) -> float:
        """Covered, of those there are."""
        return self.covered / self.there if self.there else 1.0

    @property
    def precision(self) -> float:
        """Right, of those found."""
        return self.right / self.found if self.found else 1.0
