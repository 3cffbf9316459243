"""Select dialogues for human review: offensive to the model, but not abusive by the patterns."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import aggregate_votes
from emoscope.corpus.annotation.panel import read_panel
from emoscope.corpus.filters.offensive import OffensiveFilter
from emoscope.corpus.filters.review import REVIEW, DialogueFilter, Review

KEEP, DROP = "keep", "drop"
TO_REVIEW = "to review"


class BorderlineFilter(DialogueFilter):
    """Selects dialogues for human review: those with a turn that the offensive model scores `threshold` or more.

    >>> rude = OffensiveFilter(lambda texts: [0.9 * ("damn" in text) for text in texts], threshold=0.8)
    >>> BorderlineFilter(rude).review([Dialogue.of(["damn it"])])[0].reason
    'to review'
    """

    name = REVIEW

    def __init__(self, offensive: OffensiveFilter | None = None, *, threshold: float = 0.8) -> None:
        self._offensive = offensive or OffensiveFilter(threshold=threshold)
        self.settings = {"threshold": self._offensive.threshold}

    def review(self, dialogues: Sequence[Dialogue]) -> list[Review]:
        reviews = self._offensive.review(dialogues)
        return [each if each.reason is None else Review(each.dialogue, TO_REVIEW, each.details) for each in reviews]


def read_decisions(files: Iterable[Path]) -> dict[str, str]:
    """The majority decision for each task, `keep` or `drop`; a tie is `drop`."""
    votes: Mapping[str, Mapping[str, int]] = read_panel(list(files)).votes
    for task, counts in votes.items():
        if unknown := set(counts) - {KEEP, DROP}:
            raise EmoscopeError(
                f"task {task!r} was judged {sorted(unknown)[0]!r}; a review has the labels keep and drop"
            )
    return {result.task: result.label for result in aggregate_votes(votes, fallback=DROP)}
