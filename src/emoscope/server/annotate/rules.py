"""The rules of a study, checked before it begins and stored with it."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.assignment import Places
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.people import Requirements
from emoscope.corpus.annotation.rounds import Rounds

# One key per label, in this order; s and u are skip and undo, and people press n for "next".
KEYS = "1234567890qwertyiopadfghjklzxcvbm"
_ADDED = ("pass_mark", "require", "suggestions")  # studies from before do not have them


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
    pass_mark: float = Rounds().pass_mark
    require: tuple[str, ...] = ()  # of annotators: country=US, approval_rate>=0.95, tasks>=1000
    suggestions: str | None = None  # the model whose labels annotators are shown

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
        _ = rules.places, rules.gold, rules.rounds(), rules.requirements
        return rules

    def described(self) -> dict[str, Any]:
        """The rules as a study is recognised by: later additions only where they are used."""
        dumped = self.model_dump(mode="json")
        unused = {name for name in _ADDED if getattr(self, name) == type(self).model_fields[name].default}
        return {name: value for name, value in dumped.items() if name not in unused}

    def rounds(self, training: tuple[str, ...] = (), qualification: tuple[str, ...] = ()) -> Rounds:
        """The rounds of these items."""
        return Rounds(training, qualification, self.pass_mark)

    @property
    def requirements(self) -> Requirements:
        """What annotators must meet."""
        return Requirements.parse(self.require)

    @property
    def places(self) -> Places:
        """How many judge each item."""
        return Places(self.judges, self.overlap)

    @property
    def gold(self) -> GoldRules:
        """How gold questions are asked and decide."""
        return GoldRules(self.gold_share, self.min_gold, self.min_gold_answers)
