"""Rules against candidates that are near to the seeds and still of another emotion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.core.text import words
from emoscope.corpus.mining.valence import sentiment, valence_of_class, valences_of_faces

# Sentiment stronger than this contradicts an emotion of the other kind; weaker sentiment is often wrong.
STRONG = 0.5
# The quantile of the seeds' lengths beyond which a text no longer looks like the class.
LONGEST = 0.99


class PruneReason(StrEnum):
    """Why a dialogue near to the seeds of a class is not shown to judges."""

    SEED = "is a seed"
    EMOTICON = "opposite emoticon"
    SENTIMENT = "opposite sentiment"
    LENGTH = "longer than the seeds"
    SURPLUS = "beyond the number asked for"


@dataclass(frozen=True, slots=True)
class Pruner:
    """The rules, which look at a dialogue's last turn; `longest` is the most words a turn of each class may have."""

    longest: Mapping[str, float]

    @classmethod
    def of(cls, seeds: Mapping[str, Sequence[Dialogue]]) -> "Pruner":
        """The rules for these seeds of each class.

        >>> Pruner.of({"sad": [Dialogue.of(["I lost it"])]}).longest
        {'sad': 3.0}
        """
        lengths = {name: [len(words(one.turns[-1].text)) for one in own] for name, own in seeds.items()}
        return cls({name: float(np.quantile(own, LONGEST)) for name, own in lengths.items()})

    def reason(self, name: str, dialogue: Dialogue) -> PruneReason | None:
        """Why the dialogue is no candidate for a class, if a rule says so.

        >>> Pruner({"happy": 5}).reason("happy", Dialogue.of(["I am so happy :'("]))
        <PruneReason.EMOTICON: 'opposite emoticon'>
        """
        text = dialogue.turns[-1].text
        valence = valence_of_class(name)
        if valence:
            faces = valences_of_faces(text)
            # Tears among smiles are tears of joy.
            if -valence in faces and valence not in faces:
                return PruneReason.EMOTICON
            if sentiment(text) * valence < -STRONG:
                return PruneReason.SENTIMENT
        if len(words(text)) > self.longest[name]:
            return PruneReason.LENGTH
        return None
