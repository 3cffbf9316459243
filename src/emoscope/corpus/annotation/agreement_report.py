"""How well annotators agree on a set of items, each measure with a bootstrap interval over the items.

All measures but Cohen's are sums over items, so items with the same votes are counted together, and a resample of the
items is a draw of how often each pattern of votes occurs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.metrics import Floats
from emoscope.core.significance import Interval, check_samples, percentile_interval
from emoscope.corpus.annotation.agreement import cohen_kappa, fleiss_kappa, fleiss_kappa_per_label, krippendorff_alpha
from emoscope.corpus.annotation.annotations import Judgement

SAMPLES = 2_000
# Intervals of single pairs are drawn one by one; a crowd has thousands of pairs, each with a handful of items.
PAIRS_WITH_INTERVAL = 100
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure and its interval; None where it is not defined."""

    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two annotators on the items both judged: the share they agree on, and Cohen's kappa."""

    workers: tuple[str, str]
    items: int
    agreement: float
    kappa: Measured

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "workers": list(self.workers),
            "items": self.items,
            "agreement": self.agreement,
            "kappa": self.kappa.value,
            "interval": _plain(self.kappa.interval),
        }


@dataclass(frozen=True, slots=True)
class Agreement:
    """What `measure_agreement` found.

    `items` have two votes or more; `left_out` is how many have fewer. `pairwise` is the share of pairs of votes on the
    same item that agree, each item counting the same; `pairs` are those of named annotators, most common items first.
    """

    items: int
    left_out: int
    votes: Mapping[str, int]
    fleiss_kappa: Measured
    per_class: Mapping[str, Measured]
    krippendorff_alpha: Measured
    pairwise: Measured
    pairs: tuple[Pair, ...]

    @property
    def mean_pair_kappa(self) -> float | None:
        """Cohen's kappa over all pairs, each weighted by the items it has in common."""
        defined = [(pair.kappa.value, pair.items) for pair in self.pairs if pair.kappa.value is not None]
        common = sum(items for _, items in defined)
        return sum(kappa * items for kappa, items in defined) / common if common else None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "items": self.items,
            "left_out": self.left_out,
            "votes": dict(self.votes),
            "fleiss_kappa": self.fleiss_kappa.value,
            "interval": _plain(self.fleiss_kappa.interval),
            "per_class": {label: one.value for label, one in self.per_class.items()},
            "per_class_interval": {label: _plain(one.interval) for label, one in self.per_class.items()},
            "krippendorff_alpha": self.krippendorff_alpha.value,
            "krippendorff_alpha_interval": _plain(self.krippendorff_alpha.interval),
            "pairwise": {
                "agreement": self.pairwise.value,
                "interval": _plain(self.pairwise.interval),
                "cohen_kappa": self.mean_pair_kappa,
                "pairs": [pair.as_dict() for pair in self.pairs],
            },
        }


def measure_agreement(
    votes: Iterable[Mapping[str, int]],
    judgements: Sequence[Judgement] = (),
    *,
    level: float = 0.95,
    samples: int = SAMPLES,
    seed: int = 0,
) -> Agreement:
    """Agreement on items, each given by its votes; with judgements, whose workers have names, also that of pairs.

    >>> found = measure_agreement([{"joy": 3}, {"sad": 3}, {"joy": 2, "sad": 1}])
    >>> found.items, round(found.fleiss_kappa.value, 2), round(found.pairwise.value, 2)
    (3, 0.55, 0.78)
    """
    check_samples(samples)
    patterns = Counter(tuple(sorted((name, count) for name, count in item.items() if count)) for item in votes)
    patterns.pop((), None)
    labels = sorted({name for pattern in patterns for name, _ in pattern})
    column = {label: index for index, label in enumerate(labels)}
    kept = sorted(pattern for pattern in patterns if sum(count for _, count in pattern) >= 2)
    items = sum(patterns[pattern] for pattern in kept)
    if not items:
        raise EmoscopeError("no item has two votes or more, so there is no agreement to measure")
    table = np.zeros((len(kept), len(labels)), np.int64)
    for row, pattern in enumerate(kept):
        for label, count in pattern:
            table[row, column[label]] = count
    times = np.array([patterns[pattern] for pattern in kept], np.int64)
    every = np.repeat(table, times, axis=0)
    drawn = _resampled(table, times, samples, np.random.default_rng(seed))

    def measured(value: float, column: int) -> Measured:
        return _measured(value, drawn[:, column], level)

    raters = every.sum(1)
    return Agreement(
        items=items,
        left_out=sum(patterns.values()) - items,
        votes=MappingProxyType(
            {label: int(count) for label, count in zip(labels, every.sum(0), strict=True)},
        ),
        fleiss_kappa=measured(fleiss_kappa(every), 0),
        per_class=MappingProxyType(
            {
                label: measured(float(value), 3 + place)
                for place, (label, value) in enumerate(zip(labels, fleiss_kappa_per_label(every), strict=True))
            }
        ),
        krippendorff_alpha=measured(krippendorff_alpha(every), 1),
        pairwise=measured(float(((every * (every - 1)).sum(1) / (raters * (raters - 1))).mean()), 2),
        pairs=_pairs(judgements, level, samples, seed),
    )


def _resampled(table: NDArray[np.int64], times: NDArray[np.int64], samples: int, rng: np.random.Generator) -> Floats:
    """Of each resample: Fleiss' kappa, Krippendorff's alpha, the agreement of pairs, and the kappa of each label."""
    votes = table.astype(np.float64)
    raters = votes.sum(1)
    pairs = raters * (raters - 1)
    shares = votes / raters[:, None]
    agreeing = (votes * (votes - 1)).sum(1) / pairs
    # Two votes agree on whether a label applies unless one is for it and the other is not.
    split = 2 * votes * (raters[:, None] - votes) / pairs[:, None]
    parted = (raters**2 - (votes**2).sum(1)) / (raters - 1)
    items = int(times.sum())
    found: list[Floats] = []
    with np.errstate(divide="ignore", invalid="ignore"):  # a resample with one label only has no kappa
        step = max(1, _CHUNK // len(times))
        for start in range(0, samples, step):
            drawn = rng.multinomial(items, times / items, size=min(step, samples - start)).astype(np.float64)
            mean_shares = drawn @ shares / items
            spread = mean_shares * (1 - mean_shares)
            observed = drawn @ agreeing / items
            fleiss = 1 - (1 - observed) / spread.sum(1)
            total = drawn @ raters
            expected = total**2 - ((drawn @ votes) ** 2).sum(1)
            alpha = 1 - (drawn @ parted) * (total - 1) / expected
            per_label = 1 - (drawn @ split / items) / (2 * spread)
            found.append(np.column_stack([fleiss, alpha, observed, per_label]))
    return np.concatenate(found)


def _pairs(judgements: Sequence[Judgement], level: float, samples: int, seed: int) -> tuple[Pair, ...]:
    by_task: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for said in judgements:
        by_task[said.task].append((said.worker, said.label))
    common: defaultdict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for said_of_task in by_task.values():
        ordered = sorted(said_of_task)
        for place, (one, first) in enumerate(ordered):
            for other, second in ordered[place + 1 :]:
                common[one, other][first, second] += 1
    ranked = sorted(common.items(), key=lambda entry: (-entry[1].total(), entry[0]))
    return tuple(
        _pair(workers, cells, level, samples if rank < PAIRS_WITH_INTERVAL else 0, seed)
        for rank, (workers, cells) in enumerate(ranked)
    )


def _pair(workers: tuple[str, str], cells: Counter[tuple[str, str]], level: float, samples: int, seed: int) -> Pair:
    labels = sorted({label for cell in cells for label in cell})
    confusion = np.array([[cells[first, second] for second in labels] for first in labels], np.int64)
    items = int(confusion.sum())
    drawn: Floats = np.empty(0)
    if samples:
        rng = np.random.default_rng(seed)
        tables = rng.multinomial(items, confusion.ravel() / items, size=samples)
        drawn = cohen_kappa(tables.reshape(samples, *confusion.shape))
    agreement = float(np.trace(confusion)) / items
    return Pair(workers, items, agreement, _measured(float(cohen_kappa(confusion)), drawn, level))


def _measured(value: float, drawn: Floats, level: float) -> Measured:
    if not math.isfinite(value):
        return Measured(None, None)
    defined = drawn[np.isfinite(drawn)]
    return Measured(value, percentile_interval(defined, level=level) if len(defined) else None)


def _plain(interval: Interval | None) -> dict[str, float | int] | None:
    return None if interval is None else asdict(interval)
