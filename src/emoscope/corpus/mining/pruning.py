"""Rules that drop candidates close to the seeds that probably show another emotion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.core.text import words
from emoscope.corpus.mining.valence import sentiment, valence_of_class, valences_of_faces

# Sentiment stronger than this contradicts an emotion of opposite valence; weaker sentiment is often wrong.
STRONG = 0.5
# The quantile of seed lengths above which a text no longer looks like the class.
LONGEST = 0.99


class PruneReason(StrEnum):
    """Why a dialogue close to a class's seeds is not a candidate."""

    SEED = "is a seed"
    EMOTICON = "opposite emoticon"
    SENTIMENT = "opposite sentiment"
    LENGTH = "longer than the seeds"
    SURPLUS = "beyond the number asked for"


@dataclass(frozen=True, slots=True)
class Pruner:
    """The rules, which check a dialogue's last turn; `longest` is the most words allowed for each class."""

    longest: Mapping[str, float]

    @classmethod
    def of(cls, seeds: Mapping[str, Sequence[Dialogue]]) -> "Pruner":
        """The rules for the seeds of each class.

        >>> Pruner.of({"sad": [Dialogue.of(["I lost it"])]}).longest
        {'sad': 3.0}
        """
        lengths = {name: [len(words(one.turns[-1].text)) for one in own] for name, own in seeds.items()}
        return cls({name: float(np.quantile(own, LONGEST)) for name, own in lengths.items()})

    def reason(self, name: str, dialogue: Dialogue) -> PruneReason | None:
        """Why the dialogue is not a candidate for a class, or None.

        >>> Pruner({"happy": 5}).reason("happy", Dialogue.of(["I am so happy :'("]))
        <PruneReason.EMOTICON: 'opposite emoticon'>
        """
        text = dialogue.turns[-1].text
        valence = valence_of_class(name)
        if valence:
            faces = valences_of_faces(text)
            # Tears together with smiles are tears of joy.
            if -valence in faces and valence not in faces:
                return PruneReason.EMOTICON
            if sentiment(text) * valence < -STRONG:
                return PruneReason.SENTIMENT
        if len(words(text)) > self.longest[name]:
            return PruneReason.LENGTH
        return None
