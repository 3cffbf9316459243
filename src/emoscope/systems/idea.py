"""IDEA at EmotionX, the winner: BERT over pairs of utterances, further pretrained on scripts or tweets."""

from emoscope.models.block import Block
from emoscope.systems.base import PUBLISHED, System
from emoscope.systems.settings import FurtherPretrainingSettings

MAIN_CHARACTERS = ("Chandler", "Joey", "Monica", "Phoebe", "Rachel", "Ross")


class IdeaSettings(FurtherPretrainingSettings):
    """BERT's usual values, two utterances, and IDEA's class weights."""

    context: int = 2
    balanced_warming: bool = True
    """Start with balanced class weights and end with equal ones."""


class Idea(System):
    """An utterance and the one before it; on Friends a token for each main character; weighted balanced warming."""

    metadata = PUBLISHED["idea"]
    settings: IdeaSettings

    def build(self) -> Block:
        settings = self.settings
        # A tweet has no previous utterance, so there is no next one to predict.
        network = settings.pretraining("masked", "tweets")
        if self.task.name == "emotionx-friends":
            network = settings.pretraining("masked+next", "friends-scripts")
            network |= {"speakers": "names", "names": list(MAIN_CHARACTERS)}
        return settings.fine_tuned(self.task.labels, balanced_warming=settings.balanced_warming, **network)
