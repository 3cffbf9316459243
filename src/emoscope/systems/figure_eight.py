"""Figure Eight at EmoContext: ULMFiT, several times."""

from collections.abc import Mapping
from typing import Any, ClassVar

from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Mean
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import Recipe


class FigureEight(Recipe):
    """Language models that read forwards and backwards, each fine-tuned from `seeds` random heads, all averaged.

    Discriminative learning rates, the slanted triangular schedule and gradual unfreezing are ULMFiT's.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="figure-eight",
        summary="ULMFiT: language models trained on tweets, then on the task's turns, fine-tuned with gradual "
        "unfreezing, averaged over directions and seeds",
        tasks=("emocontext",),
        team="Figure Eight",
        citation=(
            "Xiao (2019). Figure Eight at SemEval-2019 Task 3: Ensemble of Transfer Learning Methods for Contextual "
            "Emotion Detection. SemEval-2019, 220-224."
        ),
        published={"emocontext": 0.7608},
        substitutions=("a language model trained on WikiText-103: one trained on tweets and Reddit comments",),
    )
    # The sizes are AWD-LSTM's, for a GPU; embedding=200, hidden=400 and layers=2 suit two CPU cores.
    defaults: ClassVar[Mapping[str, Any]] = {
        "embedding": 400,
        "hidden": 1150,
        "layers": 3,
        "dense": 50,
        "dropout": 0.5,
        "directions": "both",  # forward, backward or both
        "seeds": 3,  # fine-tunings for each direction
        "context": 3,
        "max_length": 100,
        "min_count": 2,
        "max_features": 30_000,
        "pretraining_text": None,
        "lm_epochs": 6,
        "lm_batch": 64,
        "lm_rate": 3e-3,
        "tune_epochs": 4,
        "epochs": 12,
        "batch": 64,
        "rate": 1e-2,
    }

    def build(self) -> Block:
        """One language model for each direction, and its fine-tuned copies."""
        from emoscope.models.torch.training import Training
        from emoscope.models.torch.transfer import Transferred

        get = self.settings
        directions = {"forward": [False], "backward": [True], "both": [False, True]}[get["directions"]]
        of_training = ("epochs", "batch", "rate", "directions", "seeds", "shift")
        network = {name: value for name, value in get.items() if name not in of_training}
        training = Training(
            epochs=get["epochs"], batch=get["batch"], rate=get["rate"], schedule="slanted", unfreeze=True
        )
        return Mean(
            [
                Transferred(
                    self.task.labels, "ulmfit", {**network, "backward": backward}, training, copies=get["seeds"]
                )
                for backward in directions
            ]
        )
