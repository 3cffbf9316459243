"""Select dialogues for human review: perhaps offensive or with personal data, where no other filter is sure."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import aggregate_votes
from emoscope.corpus.annotation.panel import read_panel
from emoscope.corpus.filters.doubtful import doubtful_data
from emoscope.corpus.filters.offensive import OffensiveFilter
from emoscope.corpus.filters.review import REVIEW, DialogueFilter, Review
from emoscope.corpus.filters.spans import Kind

KEEP, DROP = "keep", "drop"
TO_REVIEW = "to review"


class BorderlineFilter(DialogueFilter):
    """Selects dialogues for human review.

    They have a turn that the offensive model scores `threshold` or more, or that may contain personal data of `kinds`.

    >>> rude = OffensiveFilter(lambda texts: [0.9 * ("damn" in text) for text in texts], threshold=0.8)
    >>> BorderlineFilter(rude).review([Dialogue.of(["damn it"])])[0].reason
    'to review'
    >>> BorderlineFilter(rude, kinds=["name"]).review([Dialogue.of(["only riya answers"])])[0].reason
    'to review'
    """

    name = REVIEW

    def __init__(
        self, offensive: OffensiveFilter | None = None, *, threshold: float = 0.8, kinds: Iterable[Kind | str] = ()
    ) -> None:
        self._offensive = offensive or OffensiveFilter(threshold=threshold)
        self._kinds = frozenset(map(str, kinds))
        self.settings = {"threshold": self._offensive.threshold, "kinds": sorted(self._kinds)}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        """The details are the most offensive turn and its score, and the turns that may contain personal data."""
        return [self._with_doubts(each) for each in self._offensive.review(dialogues)]

    def _with_doubts(self, review: Review) -> Review:
        doubtful = [
            number
            for number, text in enumerate(review.dialogue.texts, start=1)
            if any(span.kind in self._kinds for span in doubtful_data(text))
        ]
        if review.reason is None and not doubtful:
            return review
        details = {**review.details, **({"personal": doubtful} if doubtful else {})}
        return Review(review.dialogue, TO_REVIEW, details)


def read_decisions(files: Iterable[Path]) -> dict[str, str]:
    """The majority decision for each task, `keep` or `drop`; a tie is `drop`."""
    votes: Mapping[str, Mapping[str, int]] = read_panel(list(files)).votes
    for task, counts in votes.items():
        if unknown := set(counts) - {KEEP, DROP}:
            raise EmoscopeError(
                f"task {task!r} was judged {sorted(unknown)[0]!r}; a review has the labels keep and drop"
            )
    return {result.task: result.label for result in aggregate_votes(votes, fallback=DROP)}
