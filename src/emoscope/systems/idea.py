"""IDEA at EmotionX, the winner: BERT over pairs of utterances, after it has read the scripts or tweets."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.torch.fine_tuning import BERT_SUBSTITUTE, FINE_TUNING, FURTHER_PRETRAINING, fine_tuned
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe

MAIN_CHARACTERS = ("Chandler", "Joey", "Monica", "Phoebe", "Rachel", "Ross")


class Idea(Recipe):
    """An utterance and the one before it; on Friends a token for each main character; weighted balanced warming."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="idea",
        summary="BERT further pretrained on scripts or tweets, two utterances, speaker tokens, balanced warming",
        tasks=("emotionx-friends", "emotionx-push"),
        team="IDEA",
        citation=(
            "Huang, Lee, Ma, Chen, Yu, Chen (2019). EmotionX-IDEA: Emotion BERT - an Affectional Model for "
            "Conversation. arXiv:1908.06264."
        ),
        published={"emotionx-friends": 0.815, "emotionx-push": 0.885},
        substitutions=(BERT_SUBSTITUTE, "the team's own tweets: those of SemEval-2017 4A and TweetEval"),
    )
    defaults: ClassVar[Mapping[str, Any]] = {**FINE_TUNING, **FURTHER_PRETRAINING, "context": 2, "warming": True}

    def build(self) -> Block:
        """One transformer; what it reads before depends on the task."""
        warming = self.settings["warming"]
        if self.task.name == "emotionx-friends":
            return fine_tuned(
                self.task.labels,
                self.settings,
                warming=warming,
                speakers="names",
                names=list(MAIN_CHARACTERS),
                pretraining="masked+next",
                pretraining_source="friends-scripts",
            )
        # A tweet has no utterance before it, so there is no next one to tell.
        return fine_tuned(
            self.task.labels, self.settings, warming=warming, pretraining="masked", pretraining_source="tweets"
        )
