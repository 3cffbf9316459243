"""Rank a score among a task's published results, with a caveat if it is not comparable."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from emoscope.core.errors import EmoscopeError
from emoscope.tasks.published import Published, ScoreDistribution


@dataclass(frozen=True, slots=True)
class NamedScore:
    """A published system and its score."""

    name: str
    score: float


@dataclass(frozen=True, slots=True)
class Placement:
    """The rank of a score among published ones; below all of them it is `of + 1`."""

    task: str
    score: float
    rank: int | None  # None if it depends on unpublished scores
    rank_range: tuple[int, int]  # the best and the worst possible rank
    of: int
    above: NamedScore | None  # the nearest system with a better score
    level: tuple[NamedScore, ...]  # systems with the same score
    below: NamedScore | None
    sentence: str
    published_split: str
    caveat: str | None
    official: bool = True  # False: the score is not measured as the published ones are


def place(score: float, published: Published, *, split: str | None = None, revision: str | None = None) -> Placement:
    """Rank a score among the published ones.

    All rows of the results table count. Scores are compared at the precision they were published with; equal ones share
    a rank. `split` and `revision` name the data the score was computed on; the caveat says if it is comparable.

    >>> from emoscope.tasks.published import published
    >>> place(0.7712, published("emocontext")).sentence
    '0.7712 would rank 5th of 16, between SymantoResearch and ANA'
    >>> place(0.80, published("emotionx-friends")).sentence
    '0.8000 would rank between 2nd and 11th of 11: under IDEA (0.815), above HSU (0.791), 9 scores unknown'
    """
    if not (math.isfinite(score) and 0 <= score <= 1):
        raise EmoscopeError(f"a score to place must lie between 0 and 1, not {score}")
    rounded = round(float(score), published.decimals)
    systems = [NamedScore(entry.name, entry.score) for entry in published.entries if entry.score is not None]
    better = [system for system in systems if system.score > rounded]
    level = tuple(system for system in systems if system.score == rounded)
    worse = [system for system in systems if system.score < rounded]
    # No unknown score is above the first, so they matter only to scores below it.
    open_places = published.unknown if better else 0
    rank_range = (len(better) + 1, len(better) + 1 + open_places)
    caveats = [_other_data(published, split, revision), _left_out(rounded, published)]
    return Placement(
        task=published.task,
        score=float(score),
        rank=None if open_places else rank_range[0],
        rank_range=rank_range,
        of=published.size,
        above=better[-1] if better else None,
        level=level,
        below=worse[0] if worse else None,
        sentence=f"{score:.4f} would rank {_standing(published, better, level, worse)}",
        published_split=published.split_name,
        caveat="; ".join(caveat for caveat in caveats if caveat) or None,
    )


def unofficial(placement: Placement, why: str) -> Placement:
    """A rank whose score is not measured as the published ones are, and which says so.

    >>> from emoscope.tasks.published import published
    >>> unofficial(place(0.7712, published("emocontext")), "over other labels").sentence
    'unofficially, 0.7712 would rank 5th of 16, between SymantoResearch and ANA'
    """
    caveat = "; ".join(part for part in (f"an unofficial rank: {why}", placement.caveat) if part)
    return replace(placement, sentence=f"unofficially, {placement.sentence}", caveat=caveat, official=False)


def _standing(
    published: Published, better: Sequence[NamedScore], level: Sequence[NamedScore], worse: Sequence[NamedScore]
) -> str:
    """The rank and its neighbours, or the possible ranks if some scores are unknown."""
    rank, size, unknown = len(better) + 1, published.size, published.unknown
    certain = f"{_ordinal(rank)} of {size}"
    if better and unknown:
        worst = rank + unknown
        ranks = f"between {_ordinal(rank)} and {_ordinal(worst)} of {size}" if worst <= size else f"{certain} or lower"
        known = [("under", entry) for entry in better[-1:]]
        known += [("level with", entry) for entry in level] + [("above", entry) for entry in worse[:1]]
        facts = [f"{word} {entry.name} ({entry.score:.{published.decimals}f})" for word, entry in known]
        return f"{ranks}: {', '.join(facts)}, {unknown} score{'s' if unknown > 1 else ''} unknown"
    if level:
        return f"{certain}, level with {' and '.join(entry.name for entry in level)}"
    if not better:
        return f"{certain}, ahead of {published.entries[0].name}"
    if not worse:
        return f"below all {size}, under {better[-1].name}"
    return f"{certain}, between {better[-1].name} and {worse[0].name}"


def _other_data(published: Published, split: str | None, revision: str | None) -> str | None:
    """A caveat if the score was computed on other data than the published figures."""
    figures = f"published figures are on {published.split_name}"
    other_split = split is not None and split != published.split
    other_revision = revision is not None and revision not in published.revisions
    if other_split or other_revision:
        here = " of ".join(f"{kind} {name!r}" for kind, name in (("split", split), ("revision", revision)) if name)
        advice = f" ({published.elsewhere})" if published.elsewhere else ""
        return f"not comparable: {figures}, this score is on {here}{advice}"
    if split is None or revision is None:
        return f"{figures}; a score on other data is not comparable"
    return None


def _left_out(score: float, published: Published) -> str | None:
    """A caveat for a score below a table that lists only the best teams: its quarter among all participants."""
    ranked = [entry.score for entry in published.entries if entry.rank is not None and entry.score is not None]
    if published.statistics is None or score >= ranked[-1]:
        return None
    return (
        f"{published.source.table} lists only the best {len(ranked)} teams; "
        f"among all participants this is {_quarter(score, published.statistics)} ({published.statistics.source.table})"
    )


def _quarter(score: float, statistics: ScoreDistribution) -> str:
    names = ("third quartile", "median", "first quartile")
    marks = (statistics.third_quartile, statistics.median, statistics.first_quartile)
    higher = sum(score < mark for mark in marks)
    if higher == 0:
        return f"above the {names[0]}"
    if higher == len(marks):
        return f"below the {names[-1]}"
    return f"between the {names[higher]} and the {names[higher - 1]}"


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
