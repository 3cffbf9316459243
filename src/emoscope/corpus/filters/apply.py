"""All filters applied to a part of a table: the work of one process, as lines of JSON that outlive a kill."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.filters.review import DialogueFilter, Review
from emoscope.parallel.parts import packed, unpacked


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a dialogue is dropped; if it is kept, what each filter masked, and the dialogue if that changed it."""

    reasons: Sequence[Mapping[str, Any]]
    masked: Mapping[str, Mapping[str, int]]
    changed: Dialogue | None


@dataclass(frozen=True, slots=True)
class ApplyFilters:
    """Runs filters over a part's dialogues, one after the other; later filters see what earlier ones masked.

    >>> from emoscope.corpus.filters.offensive import OffensiveFilter
    >>> rude = OffensiveFilter(lambda texts: ["idiot" in text for text in texts], threshold=0.5)
    >>> lines = ApplyFilters((rude,))(packed([Dialogue.of(["hello"]), Dialogue.of(["you idiot"])]))
    >>> [[reason["reason"] for reason in verdict.reasons] for verdict in read_verdicts(lines)]
    [[], ['offensive']]
    """

    filters: tuple[DialogueFilter, ...]

    def __call__(self, part: bytes) -> bytes:
        before = dialogues = unpacked(part)
        reviews: list[list[Review]] = []
        for each in self.filters:
            reviews.append(each.review(dialogues))
            dialogues = [review.dialogue for review in reviews[-1]]
        return "".join(map(self._line, before, dialogues, zip(*reviews, strict=True))).encode()

    def _line(self, before: Dialogue, after: Dialogue, reviews: Sequence[Review]) -> str:
        named = [(each.name, review) for each, review in zip(self.filters, reviews, strict=True)]
        verdict: dict[str, Any] = {}
        reasons = [
            {"filter": name, "reason": review.reason, **review.details}
            for name, review in named
            if review.reason is not None
        ]
        if reasons:
            verdict["reasons"] = reasons
        else:
            verdict["masked"] = {name: dict(review.masked) for name, review in named if review.masked}
            if after != before:
                verdict["changed"] = packed([after]).decode()
        return json.dumps(verdict) + "\n"


def read_verdicts(lines: bytes) -> Iterator[Verdict]:
    """The verdicts that `ApplyFilters` wrote, one for each dialogue.

    >>> [verdict.reasons for verdict in read_verdicts(b"{}")]
    [()]
    """
    for line in lines.splitlines():
        verdict = json.loads(line)
        changed = verdict.get("changed")
        dialogue = None if changed is None else unpacked(changed.encode())[0]
        yield Verdict(verdict.get("reasons", ()), verdict.get("masked", {}), dialogue)
