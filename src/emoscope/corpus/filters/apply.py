"""Apply all filters to a part of a table in one process; the verdicts are lines of JSON that survive a kill."""

import json
from collections.abc import Sequence
from typing import Any

from emoscope.corpus.filters.review import REVIEW, DialogueFilter
from emoscope.parallel.parts import packed, unpacked


def apply_filters(filters: Sequence[DialogueFilter], part: bytes) -> bytes:
    """Run filters over the dialogues of a part in order; later filters see text that earlier ones masked.

    Each line has the `reasons` to drop a dialogue, the counts each filter `masked`, and the `changed` dialogue, if any.

    >>> from emoscope.core.dialogue import Dialogue
    >>> from emoscope.corpus.filters.offensive import OffensiveFilter
    >>> rude = OffensiveFilter(lambda texts: ["idiot" in text for text in texts], threshold=0.5)
    >>> apply_filters([rude], packed([Dialogue.of(["hello"]), Dialogue.of(["you idiot"])])).splitlines()
    [b'{}', b'{"reasons": [{"filter": "offensive", "reason": "offensive", "turn": 1, "score": 1.0}]}']
    """
    before = dialogues = unpacked(part)
    verdicts: list[dict[str, Any]] = [{} for _ in before]
    for each in filters:
        reviews = each.review(dialogues)
        dialogues = [review.dialogue for review in reviews]
        for verdict, review in zip(verdicts, reviews, strict=True):
            if review.reason is not None:
                reason = {"filter": each.name, "reason": review.reason, **review.details}
                verdict.setdefault("reasons", []).append(reason)
            if review.masked:
                verdict.setdefault("masked", {})[each.name] = dict(review.masked)
    for verdict, old, new in zip(verdicts, before, dialogues, strict=True):
        # People need not judge what another filter drops.
        if final := [reason for reason in verdict.get("reasons", ()) if reason["filter"] != REVIEW]:
            verdict["reasons"] = final
        elif new != old:
            verdict["changed"] = packed([new]).decode()
    return "".join(json.dumps(verdict) + "\n" for verdict in verdicts).encode()
