"""The rules of a study, checked before it begins and stored with it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.assignment import Places
from emoscope.corpus.annotation.gold_questions import GoldRules

# One key per label, in this order; s and u are skip and undo, and people press n for "next".
KEYS = "1234567890qwertyiopadfghjklzxcvbm"


class StudyRules(BaseModel):
    """The labels, how many judge, whether further labels may be named, and how gold questions decide.

    >>> StudyRules.checked(labels=["joy", "sad"]).judges
    7
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    labels: tuple[str, ...]
    judges: int = 7
    overlap: float = 1.0
    whole_dialogues: bool = False
    other_labels: bool = False
    gold_share: float = GoldRules().share
    min_gold: float = GoldRules().least_right
    min_gold_answers: int | None = None  # None: the sequential test; studies from before name a number
    seed: int = Field(1, ge=0)

    @classmethod
    def checked(cls, **values: Any) -> "StudyRules":
        """The rules, or one line about what is wrong with them."""
        try:
            rules = cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            raise EmoscopeError(f"{first['loc'][0]}: {first['msg']}") from None
        if not 2 <= len(rules.labels) <= len(KEYS):
            raise EmoscopeError(f"expected between 2 and {len(KEYS)} labels, found {len(rules.labels)}")
        if len(set(rules.labels)) != len(rules.labels):
            raise EmoscopeError("a label is named twice")
        for label in rules.labels:
            Judgement("task", "worker", label, (label,))  # refuses what no annotation file could hold
        _ = rules.places, rules.gold
        return rules

    @property
    def places(self) -> Places:
        """How many judge each item."""
        return Places(self.judges, self.overlap)

    @property
    def gold(self) -> GoldRules:
        """How gold questions are asked and decide."""
        return GoldRules(self.gold_share, self.min_gold, self.min_gold_answers)
