"""Dialogues with an offensive turn."""

import re
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.review import Review
from emoscope.models.linear.offensive import OffensiveModel

# Texts to the probability that each is offensive.
OffensiveScorer = Callable[[Sequence[str]], Iterable[float]]

# Words of anger, which tweets that were marked as offensive are full of. Alone they are no abuse of anybody.
ANGER = re.compile(
    r"""\b(?: shut\ (?:the\ hell\ )?up | shut\ (?:your|ur)\ mouth | leave\ me\ alone | get\ lost | go\ away | hell
    | damn(?:ed|it)? | hat(?:e|es|ed|ing|red) | ang(?:er|ry) | mad | furious | annoy\w* | irritat\w* | disgust\w*
    | sick\ of | fed\ up | pissed(?:\ off)? | suck(?:s|ed)? | crap | liars? | liers? | lying | stupid | dumb
    | nonsense | useless | ridiculous | rude | worst | terrible | awful )\b""",
    re.IGNORECASE | re.VERBOSE,
)


class AbuseScorer:
    """The probability that a text is abuse, and not anger alone: without its words of anger it must score as high.

    >>> model = OffensiveModel.load()
    >>> angry, abusive = AbuseScorer(model)(["I hate you, shut up", "shut up you fucking bitch"])
    >>> bool(angry < model.threshold < abusive), bool(model(["I hate you, shut up"])[0] > model.threshold)
    (True, True)
    """

    def __init__(self, model: OffensiveModel) -> None:
        self.model = model

    def __call__(self, texts: Sequence[str]) -> Iterable[float]:
        scores = self.model(texts)
        angry = [place for place, text in enumerate(texts) if ANGER.search(text)]
        if angry:
            without = self.model([ANGER.sub(" ", texts[place]) for place in angry])
            scores[angry] = np.minimum(scores[angry], without)
        return scores


class OffensiveFilter:
    """Drops a dialogue if one of its turns scores `threshold` or more; by default, the shipped model and its threshold.

    Anger is kept: only with `strict` do words such as "hate" and "shut up" count as offence by themselves.

    >>> rude = OffensiveFilter(lambda texts: [float("idiot" in text) for text in texts], threshold=0.5)
    >>> [review.reason for review in rude.review([Dialogue.of(["hi", "you idiot"]), Dialogue.of(["hi"])])]
    ['offensive', None]
    """

    name = "offensive"

    def __init__(
        self, scorer: OffensiveScorer | None = None, *, threshold: float | None = None, strict: bool = False
    ) -> None:
        if scorer is None:
            model = OffensiveModel.load()
            scorer = model if strict else AbuseScorer(model)
            threshold = model.threshold if threshold is None else threshold
        if threshold is None or not 0 < threshold <= 1:
            raise EmoscopeError(f"the threshold of offensive turns must lie above 0 and up to 1, not {threshold}")
        self.scorer = scorer
        self.threshold = threshold
        self.settings = {"threshold": threshold, "strict": strict}

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
