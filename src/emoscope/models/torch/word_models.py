"""Recurrent networks whose word vectors are trained on unlabelled tweets."""

from collections.abc import Sequence
from typing import Any

from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.models.torch.recurrent import RecurrentNetwork
from emoscope.models.torch.vectors import WordVectors
from emoscope.tasks.datasets.auxiliary import unlabelled_texts


class TweetRecurrent(RecurrentNetwork):
    """A `RecurrentNetwork` that knows the words of `pretraining_text` tweets and comments beside those of its examples.

    With `vectors="word2vec"` their vectors are trained on both (0: on the examples alone; null: on all tweets there
    are); other vectors leave the tweets unread.
    """

    def __init__(
        self, outputs: int, *, vectors: str = "word2vec", pretraining_text: int | None = None, **shared: Any
    ) -> None:
        super().__init__(outputs, vectors=vectors, **shared)
        self.pretraining_text = pretraining_text
        self._tweets: list[list[str]] = []

    def prepare(self, examples: Sequence[Example], fitting: FitContext) -> None:
        """Read the tweets, learn vocabulary and vectors, make the layers."""
        if self.vectors == "word2vec" and self.pretraining_text != 0:
            fitting.report("training word vectors", 0.0)
            self._tweets = [self.cut(text) for text in unlabelled_texts(fitting, self.pretraining_text)]
        super().prepare(examples, fitting)
        self._tweets = []

    def learn_vocabulary(self, turns: Sequence[Sequence[str]]) -> None:
        """Number the tokens of the training data and of the tweets."""
        super().learn_vocabulary([*turns, *self._tweets])

    def word_vectors(self, turns: Sequence[Sequence[str]], fitting: FitContext) -> WordVectors | None:
        """The vectors the setting names, None for random ones."""
        return super().word_vectors([*turns, *self._tweets], fitting)
