"""Drop dialogues with an abusive turn or, with a threshold, with any offensive turn."""

from collections.abc import Callable, Iterable, Sequence

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.plain_words import plain_words
from emoscope.corpus.filters.review import DialogueFilter, Review
from emoscope.corpus.filters.sensitive import read_lexicon
from emoscope.models.linear.offensive import OffensiveModel

# Texts to the probability that each is offensive.
OffensiveScorer = Callable[[Sequence[str]], Iterable[float]]


def abuse_scores(texts: Sequence[str]) -> list[float]:
    """1 for texts that degrade or threaten somebody or wish them harm, 0 for others, also for anger and swearing.

    >>> abuse_scores(["you worthless wh0re", "fuck off, i am so angry", "i'll break your legs"])
    [1.0, 0.0, 1.0]
    """
    pattern, known = read_lexicon("abuse.toml")
    return [float(pattern.finds(plain_words(text, known))) for text in texts]


class OffensiveFilter(DialogueFilter):
    """Drops a dialogue if one of its turns scores `threshold` or more.

    Without a threshold, only abuse counts: half of the angry dialogues have offensive turns, and without them
    the corpus would lose most of its anger. With one, the shipped model scores how offensive a turn is.

    >>> rude = OffensiveFilter(lambda texts: [float("idiot" in text) for text in texts], threshold=0.5)
    >>> [review.reason for review in rude.review([Dialogue.of(["hi", "you idiot"]), Dialogue.of(["hi"])])]
    ['offensive', None]
    >>> texts = ["you idiot", "you worthless whore"]
    >>> [each.reason for each in OffensiveFilter().review([Dialogue.of([text]) for text in texts])]
    [None, 'offensive']
    """

    name = "offensive"

    def __init__(self, scorer: OffensiveScorer | None = None, *, threshold: float | None = None) -> None:
        self.settings: dict[str, str | float] = {"finds": "abuse"} if threshold is None else {"threshold": threshold}
        self.measured = "abuse" if scorer is None and threshold is None else self.name
        if scorer is None:
            scorer = abuse_scores if threshold is None else OffensiveModel.load()
            threshold = 1.0 if threshold is None else threshold
        if threshold is None or not 0 < threshold <= 1:
            raise EmoscopeError(f"the threshold of offensive turns must lie above 0 and up to 1, not {threshold}")
        self.scorer = scorer
        self.threshold = threshold

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """Review dialogues; the details are the worst turn, counted from 1, and its score."""
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
