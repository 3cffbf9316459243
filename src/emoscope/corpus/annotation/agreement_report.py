"""Inter-annotator agreement, each measure with a bootstrap interval over the items.

All measures except Cohen's kappa are sums over items, so items with the same votes are grouped, and a resample is a
multinomial draw of how often each vote pattern occurs.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from emoscope.core.agreement import cohen_kappa, fleiss_kappa, fleiss_kappa_per_label, krippendorff_alpha
from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.core.metrics import Floats
from emoscope.core.significance import Interval, check_samples, percentile_interval

# A crowd has thousands of pairs that share only a few items; only the first pairs get an interval.
PAIRS_WITH_INTERVAL = 100
_CHUNK = 4_000_000


@dataclass(frozen=True, slots=True)
class WorkerPair:
    """Observed agreement and Cohen's kappa of two annotators on the items both judged."""

    workers: tuple[str, str]
    items: int
    agreement: float
    kappa: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class PairwiseAgreement:
    """The share of vote pairs that agree, averaged over items, and the agreement of each pair of annotators."""

    agreement: float | None
    interval: Interval | None
    cohen_kappa: float | None  # mean over pairs, weighted by the number of shared items
    pairs: tuple[WorkerPair, ...]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement on the `items` with at least two votes; `left_out` have fewer. An undefined measure is None."""

    items: int
    left_out: int
    votes: dict[str, int]
    fleiss_kappa: float | None
    interval: Interval | None
    per_class: dict[str, float | None]
    per_class_interval: dict[str, Interval | None]
    krippendorff_alpha: float | None
    krippendorff_alpha_interval: Interval | None
    pairwise: PairwiseAgreement


def measure_agreement(
    votes: Iterable[Mapping[str, int]],
    judgements: Sequence[Judgement] = (),
    *,
    samples: int = 2_000,
    seed: int = 0,
) -> Agreement:
    """Measure agreement from the votes on each item; `judgements`, which name workers, add pairwise agreement.

    >>> agreement = measure_agreement([{"joy": 3}, {"sad": 3}, {"joy": 2, "sad": 1}])
    >>> agreement.items, round(agreement.fleiss_kappa, 2), round(agreement.pairwise.agreement, 2)
    (3, 0.55, 0.78)
    """
    check_samples(samples)
    patterns = Counter(tuple(sorted((name, count) for name, count in item.items() if count)) for item in votes)
    patterns.pop((), None)
    labels = sorted({name for pattern in patterns for name, _ in pattern})
    usable = sorted(pattern for pattern in patterns if sum(count for _, count in pattern) >= 2)
    items = sum(patterns[pattern] for pattern in usable)
    if not items:
        raise EmoscopeError("no item has two votes or more, so there is no agreement to measure")
    table = np.array([[dict(pattern).get(label, 0) for label in labels] for pattern in usable], np.int64)
    times = np.array([patterns[pattern] for pattern in usable], np.int64)
    counts = np.repeat(table, times, axis=0)
    raters = counts.sum(1)
    resamples = _resampled(table, times, samples, np.random.default_rng(seed))
    values = [
        fleiss_kappa(counts),
        krippendorff_alpha(counts),
        float(((counts * (counts - 1)).sum(1) / (raters * (raters - 1))).mean()),
        *map(float, fleiss_kappa_per_label(counts)),
    ]
    measured = [_with_interval(value, column) for value, column in zip(values, resamples.T, strict=True)]
    (kappa, interval), (alpha, alpha_interval), (agreeing, agreeing_interval), *per_label = measured
    pairs = _pairs(judgements, samples, seed)
    weighted = [(pair.kappa * pair.items, pair.items) for pair in pairs if pair.kappa is not None]
    cohen = sum(kappa for kappa, _ in weighted) / sum(items for _, items in weighted) if weighted else None
    return Agreement(
        items=items,
        left_out=sum(patterns.values()) - items,
        votes={label: int(count) for label, count in zip(labels, counts.sum(0), strict=True)},
        fleiss_kappa=kappa,
        interval=interval,
        per_class={label: value for label, (value, _) in zip(labels, per_label, strict=True)},
        per_class_interval={label: own for label, (_, own) in zip(labels, per_label, strict=True)},
        krippendorff_alpha=alpha,
        krippendorff_alpha_interval=alpha_interval,
        pairwise=PairwiseAgreement(agreeing, agreeing_interval, cohen, pairs),
    )


def _resampled(table: NDArray[np.int64], times: NDArray[np.int64], samples: int, rng: np.random.Generator) -> Floats:
    """Fleiss' kappa, Krippendorff's alpha, pairwise agreement and per-label kappa of each resample."""
    votes = table.astype(np.float64)
    raters = votes.sum(1)
    pairs = raters * (raters - 1)
    shares = votes / raters[:, None]
    agreeing = (votes * (votes - 1)).sum(1) / pairs
    # The share of vote pairs in which exactly one vote is for the label.
    split = 2 * votes * (raters[:, None] - votes) / pairs[:, None]
    parted = (raters**2 - (votes**2).sum(1)) / (raters - 1)
    items = int(times.sum())
    resamples: list[Floats] = []
    with np.errstate(divide="ignore", invalid="ignore"):  # kappa is undefined for a resample with a single label
        step = max(1, _CHUNK // len(times))
        for start in range(0, samples, step):
            drawn = rng.multinomial(items, times / items, size=min(step, samples - start)).astype(np.float64)
            mean_shares = drawn @ shares / items
            variance = mean_shares * (1 - mean_shares)
            observed = drawn @ agreeing / items
            fleiss = 1 - (1 - observed) / variance.sum(1)
            total = drawn @ raters
            expected = total**2 - ((drawn @ votes) ** 2).sum(1)
            alpha = 1 - (drawn @ parted) * (total - 1) / expected
            per_label = 1 - (drawn @ split / items) / (2 * variance)
            resamples.append(np.column_stack([fleiss, alpha, observed, per_label]))
    return np.concatenate(resamples)


def _pairs(judgements: Sequence[Judgement], samples: int, seed: int) -> tuple[WorkerPair, ...]:
    """All pairs of annotators who share items, those sharing the most first."""
    by_task: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for judgement in judgements:
        by_task[judgement.task].append((judgement.worker, judgement.label))
    common: defaultdict[tuple[str, str], Counter[tuple[str, str]]] = defaultdict(Counter)
    for votes in by_task.values():
        for (one, first), (other, second) in combinations(sorted(votes), 2):
            common[one, other][first, second] += 1
    ranked = sorted(common.items(), key=lambda entry: (-entry[1].total(), entry[0]))
    return tuple(
        _pair(workers, cells, samples if rank < PAIRS_WITH_INTERVAL else 0, seed)
        for rank, (workers, cells) in enumerate(ranked)
    )


def _pair(workers: tuple[str, str], cells: Counter[tuple[str, str]], samples: int, seed: int) -> WorkerPair:
    labels = sorted({label for cell in cells for label in cell})
    confusion = np.array([[cells[first, second] for second in labels] for first in labels], np.int64)
    items = int(confusion.sum())
    resamples: Floats = np.empty(0)
    if samples:
        rng = np.random.default_rng(seed)
        tables = rng.multinomial(items, confusion.ravel() / items, size=samples)
        resamples = cohen_kappa(tables.reshape(samples, *confusion.shape))
    kappa, interval = _with_interval(float(cohen_kappa(confusion)), resamples)
    return WorkerPair(workers, items, float(np.trace(confusion)) / items, kappa, interval)


def _with_interval(value: float, resamples: Floats) -> tuple[float | None, Interval | None]:
    if not math.isfinite(value):
        return None, None
    defined = resamples[np.isfinite(resamples)]
    return value, percentile_interval(defined, level=0.95) if len(defined) else None
