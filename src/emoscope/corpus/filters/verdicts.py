"""What all filters together say of a dialogue, as a line of JSON: so it can come from another process, and be kept."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.filters.review import DialogueFilter, Review
from emoscope.parallel.parts import packed, unpacked


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a dialogue is dropped; if it is kept, what was masked by each filter, and the dialogue if it has changed."""

    reasons: Sequence[Mapping[str, Any]]
    masked: Mapping[str, Mapping[str, int]]
    changed: Dialogue | None


@dataclass(frozen=True, slots=True)
class Reviewer:
    """Shows the dialogues of a part to filters, one filter after the other; what a filter masks, later ones do not see.

    >>> from emoscope.corpus.filters.offensive import OffensiveFilter
    >>> rude = OffensiveFilter(lambda texts: ["idiot" in text for text in texts], threshold=0.5)
    >>> said = Reviewer((rude,))(packed([Dialogue.of(["hello"]), Dialogue.of(["you idiot"])]))
    >>> [[one["reason"] for one in verdict.reasons] for verdict in verdicts(said)]
    [[], ['offensive']]
    """

    filters: tuple[DialogueFilter, ...]

    def __call__(self, part: bytes) -> bytes:
        """A line for each dialogue."""
        given = dialogues = unpacked(part)
        reviews: list[list[Review]] = []
        for one in self.filters:
            reviews.append(one.review(dialogues))
            dialogues = [review.dialogue for review in reviews[-1]]
        lines = map(self._line, given, dialogues, zip(*reviews, strict=True))
        return "".join(lines).encode()

    def _line(self, before: Dialogue, after: Dialogue, reviews: Sequence[Review]) -> str:
        said = list(zip(self.filters, reviews, strict=True))
        reasons = [
            {"filter": one.name, "reason": review.reason, **review.details}
            for one, review in said
            if review.reason is not None
        ]
        if reasons:
            return json.dumps({"reasons": reasons}) + "\n"
        masked = {one.name: dict(review.masked) for one, review in said if review.masked}
        changed = packed([after]).decode() if after != before else None
        return json.dumps({"masked": masked, "changed": changed} if masked or changed else {}) + "\n"


def verdicts(lines: bytes) -> Iterator[Verdict]:
    """What the lines of a part say.

    >>> [verdict.reasons for verdict in verdicts(b"{}")]
    [()]
    """
    for line in lines.splitlines():
        found = json.loads(line)
        changed = found.get("changed")
        yield Verdict(
            found.get("reasons", ()),
            found.get("masked", {}),
            None if changed is None else unpacked(changed.encode())[0],
        )
