"""Dialogues with an offensive turn."""

from collections.abc import Callable, Iterable, Sequence

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.review import Review
from emoscope.models.linear.offensive import OffensiveModel

# Texts to the probability that each is offensive.
OffensiveScorer = Callable[[Sequence[str]], Iterable[float]]


class OffensiveFilter:
    """Drops a dialogue if one of its turns scores `threshold` or more; by default, the shipped model and its threshold.

    >>> rude = OffensiveFilter(lambda texts: [float("idiot" in text) for text in texts], threshold=0.5)
    >>> [review.reason for review in rude.review([Dialogue.of(["hi", "you idiot"]), Dialogue.of(["hi"])])]
    ['offensive', None]
    """

    name = "offensive"

    def __init__(self, scorer: OffensiveScorer | None = None, *, threshold: float | None = None) -> None:
        if scorer is None:
            scorer = model = OffensiveModel.load()
            threshold = model.threshold if threshold is None else threshold
        if threshold is None or not 0 < threshold <= 1:
            raise EmoscopeError(f"the threshold of offensive turns must lie above 0 and up to 1, not {threshold}")
        self.scorer = scorer
        self.threshold = threshold
        self.settings = {"threshold": threshold}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """One review for each dialogue; the details are its worst turn, counted from 1, and that turn's score."""
        scores = iter(self.scorer([text for dialogue in dialogues for text in dialogue.texts]))
        reviews = []
        for dialogue in dialogues:
            own = [float(next(scores)) for _ in dialogue.turns]
            worst = max(range(len(own)), key=own.__getitem__)
            if own[worst] < self.threshold:
                reviews.append(Review(dialogue))
            else:
                reviews.append(Review(dialogue, "offensive", {"turn": worst + 1, "score": round(own[worst], 4)}))
        return reviews
