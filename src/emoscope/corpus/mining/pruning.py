"""What speaks against a candidate, however near to the seeds it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.core.text import words
from emoscope.corpus.mining.valence import sentiment, valence_of_class, valences_of_faces

# A text whose sentiment is stronger than this contradicts an emotion of the other kind; weaker ones are often wrong.
STRONG = 0.5
# A few seeds in a hundred are longer than this, and so no longer what the class looks like.
LONGEST = 0.99


class Reason(StrEnum):
    """Why a dialogue near to the seeds of a class is not shown to judges."""

    SEED = "is a seed"
    EMOTICON = "opposite emoticon"
    SENTIMENT = "opposite sentiment"
    LENGTH = "longer than the seeds"
    SURPLUS = "beyond the number asked for"


@dataclass(frozen=True, slots=True)
class Pruner:
    """The rules that look at a dialogue's last turn; `longest` is the number of words a class's turns have at most."""

    longest: Mapping[str, float]

    @classmethod
    def of(cls, seeds: Mapping[str, Sequence[Dialogue]]) -> "Pruner":
        """Rules by the seeds of each class.

        >>> Pruner.of({"sad": [Dialogue.of(["I lost it"])]}).longest
        {'sad': 3.0}
        """
        return cls(
            {
                name: float(np.quantile([len(words(dialogue.turns[-1].text)) for dialogue in found], LONGEST))
                for name, found in seeds.items()
            }
        )

    def reason(self, name: str, dialogue: Dialogue) -> Reason | None:
        """Why the dialogue is no candidate for a class, if anything says so.

        >>> Pruner({"happy": 5}).reason("happy", Dialogue.of(["I am so happy :'("]))
        <Reason.EMOTICON: 'opposite emoticon'>
        """
        text = dialogue.turns[-1].text
        valence = valence_of_class(name)
        if valence:
            faces = valences_of_faces(text)
            # Tears among smiles are tears of joy.
            if -valence in faces and valence not in faces:
                return Reason.EMOTICON
            if sentiment(text) * valence < -STRONG:
                return Reason.SENTIMENT
        if len(words(text)) > self.longest[name]:
            return Reason.LENGTH
        return None
