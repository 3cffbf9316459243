"""A model's label suggestions for items to annotate. A study shows them only on request, and logs them."""

from collections.abc import Sequence
from dataclasses import replace

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.items import Item
from emoscope.detector import load


def suggest(items: Sequence[Item], model: str, labels: Sequence[str]) -> list[Item]:
    """Add the model's label for each turn to label; None if the study does not offer that label.

    >>> from emoscope.core.dialogue import Turn
    >>> suggest([Item("a", (Turn("I am so happy for you"),))], "nano", ["happy", "sad"])[0].suggested
    ('happy',)
    """
    detector = load(model)
    if not set(detector.labels) & set(labels):
        own = ", ".join(detector.labels)
        raise EmoscopeError(f"{model} answers {own}, and none of it is a label of this study ({', '.join(labels)})")
    windows = [Dialogue(item.turns[: target + 1]) for item in items for target in item.targets]
    found = iter([one.label for one in detector.detect_many(windows)])
    suggested = [tuple(label if (label := next(found)) in labels else None for _ in item.targets) for item in items]
    return [replace(item, suggested=own) for item, own in zip(items, suggested, strict=True)]
