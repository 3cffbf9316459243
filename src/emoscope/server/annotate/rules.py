"""The rules of a study, which are checked and stored when it is created."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from emoscope.core.errors import EmoscopeError
from emoscope.core.judgement import Judgement
from emoscope.corpus.annotation.assignment import Places
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.people import Requirements
from emoscope.corpus.annotation.rounds import Rounds

# The labels' keys, in order; s and u mean skip and undo, and n is easily pressed for "next".
KEYS = "1234567890qwertyiopadfghjklzxcvbm"
_ADDED = ("pass_mark", "require", "suggestions")  # missing in older studies

_OPTIONS = {"suggestions": "suggest"}  # options of another name


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    shown = ",".join(value) if isinstance(value, tuple) else value
    return "not given" if shown in (None, "") else str(shown)


class StudyRules(BaseModel):
    """The labels of a study, its number of judges, and how gold questions are used.

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
    min_gold_answers: int | None = None  # None: the sequential test; older studies have a number
    seed: int = Field(1, ge=0)
    pass_mark: float = Rounds().pass_mark
    require: tuple[str, ...] = ()  # of annotators: country=US, approval_rate>=0.95, tasks>=1000
    suggestions: str | None = None  # the model whose labels annotators are shown

    @classmethod
    def checked(cls, **values: Any) -> "StudyRules":
        """The rules, if they are valid."""
        try:
            rules = cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            raise EmoscopeError(f"{first['loc'][0]}: {first['msg']}") from None
        if not 2 <= len(rules.labels) <= len(KEYS):
            raise EmoscopeError(f"expected between 2 and {len(KEYS)} labels, found {len(rules.labels)}")
        if len(set(rules.labels)) != len(rules.labels):
            raise EmoscopeError("a label is listed twice")
        for label in rules.labels:
            Judgement("task", "worker", label, (label,))  # refuses labels that annotation files cannot hold
        _ = rules.places, rules.gold, rules.rounds(), rules.requirements
        return rules

    def described(self) -> dict[str, Any]:
        """The rules that identify a study; settings added later only if they are used."""
        dumped = self.model_dump(mode="json")
        unused = {name for name in _ADDED if getattr(self, name) == type(self).model_fields[name].default}
        return {name: value for name, value in dumped.items() if name not in unused}

    def differences(self, earlier: "StudyRules") -> list[str]:
        """The options of `corpus annotate` that differ from those of an earlier call.

        >>> StudyRules(labels=("joy", "sad"), judges=3).differences(StudyRules(labels=("joy", "sad")))
        ['--judges was 7, now 3']
        """
        return [
            f"--{_OPTIONS.get(name, name).replace('_', '-')} was {_shown(old)}, now {_shown(getattr(self, name))}"
            for name, old in earlier
            if old != getattr(self, name)
        ]

    def rounds(self, training: tuple[str, ...] = (), qualification: tuple[str, ...] = ()) -> Rounds:
        """The training and qualification rounds with these items."""
        return Rounds(training, qualification, self.pass_mark)

    @property
    def requirements(self) -> Requirements:
        """What annotators must fulfil."""
        return Requirements.parse(self.require)

    @property
    def places(self) -> Places:
        """The number of judges per item."""
        return Places(self.judges, self.overlap)

    @property
    def gold(self) -> GoldRules:
        """How gold questions are asked and used."""
        return GoldRules(self.gold_share, self.min_gold, self.min_gold_answers)
