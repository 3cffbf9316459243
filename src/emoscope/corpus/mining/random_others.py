"""The neutral class as in EmoContext: random dialogues, without those judged emotional."""

from collections.abc import Sequence
from pathlib import Path

from emoscope.core.errors import EmoscopeError, InputError, misspelt
from emoscope.corpus.annotation.aggregate import Aggregated
from emoscope.corpus.mining.mine import OTHERS
from emoscope.tables import read_records


def without_emotional(labels: Sequence[Aggregated], candidates: str | Path, neutral: str = OTHERS) -> list[Aggregated]:
    """Drop the labels of candidates that `mine` drew at random and that were judged emotional.

    It is an error if no candidate was judged, or if `neutral` looks like a misspelt label.
    """
    mined_as = {
        str(record.columns.get("id", record.row)): record.columns.get("mined_as")
        for record in read_records(str(candidates))
    }
    if not any(mined_as.values()):
        raise InputError(
            candidates, "has no column 'mined_as'; expected the candidates that `emoscope corpus mine` wrote"
        )
    if mined_as.keys().isdisjoint(result.task for result in labels):
        raise InputError(candidates, "nobody has judged any of these candidates")
    given = {result.label for result in labels}
    if neutral not in given and (meant := misspelt(neutral, given)):
        raise EmoscopeError(f"--neutral {neutral}: no task got this label; did you mean {meant!r}?")
    return [result for result in labels if mined_as.get(result.task) != OTHERS or result.label == neutral]
