"""IDEA at EmotionX, the winner: BERT over pairs of utterances, after it has read the scripts or tweets."""

from typing import ClassVar

from emoscope.models.block import Block
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import BERT_SUBSTITUTE, FurtherPretrainingSettings

MAIN_CHARACTERS = ("Chandler", "Joey", "Monica", "Phoebe", "Rachel", "Ross")


class IdeaSettings(FurtherPretrainingSettings):
    """BERT's usual values, two utterances, and IDEA's class weights."""

    context: int = 2
    balanced_warming: bool = True
    """Start with balanced class weights and move to none in the course of training."""


class Idea(System):
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
    settings_class = IdeaSettings
    settings: IdeaSettings

    def build(self) -> Block:
        get = self.settings
        # A tweet has no utterance before it, so there is no next one to predict.
        network = get.pretraining("masked", "tweets")
        if self.task.name == "emotionx-friends":
            network = get.pretraining("masked+next", "friends-scripts")
            network |= {"speakers": "names", "names": list(MAIN_CHARACTERS)}
        return get.fine_tuned(self.task.labels, balanced_warming=get.balanced_warming, **network)
