"""Offensive dialogues: those in which a scorer, handed in, finds a turn too offensive."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.review import Review


class OffensiveScorer(Protocol):
    """The probability, 0 to 1, that each text is offensive."""

    def __call__(self, texts: Sequence[str], /) -> Iterable[float]:
        """One number for each text, in order."""


class OffensiveFilter:
    """Drops a dialogue if one of its turns scores `threshold` or more.

    >>> rude = OffensiveFilter(lambda texts: [float("idiot" in text) for text in texts], threshold=0.5)
    >>> [review.reason for review in rude.review([Dialogue.of(["hi", "you idiot"]), Dialogue.of(["hi"])])]
    ['offensive', None]
    """

    name = "offensive"

    def __init__(self, scorer: OffensiveScorer, *, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise EmoscopeError(f"the threshold of offensive turns must lie above 0 and up to 1, not {threshold}")
        self.scorer = scorer
        self.threshold = threshold

    @property
    def settings(self) -> Mapping[str, Any]:
        """Plain values for the report."""
        return {"threshold": self.threshold}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """One review for each dialogue; its details are the worst turn, counted from 1, and that turn's score."""
        texts = [text for dialogue in dialogues for text in dialogue.texts]
        scores = iter(self.scorer(texts))
        found = []
        for dialogue in dialogues:
            own = [float(next(scores)) for _ in dialogue.turns]
            worst = max(range(len(own)), key=own.__getitem__)
            if own[worst] < self.threshold:
                found.append(Review(dialogue))
            else:
                found.append(Review(dialogue, "offensive", {"turn": worst + 1, "score": round(own[worst], 4)}))
        return found
