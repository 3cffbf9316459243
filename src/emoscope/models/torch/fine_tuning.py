"""What the systems with a fine-tuned encoder share: BERT's usual settings, and the block they stand for."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from emoscope.models.torch.classifier import NeuralClassifier

# Where a paper does not print them, the values its authors would have found in BERT's own paper.
FINE_TUNING: Mapping[str, Any] = MappingProxyType(
    {
        "encoder": "bert-base-uncased",
        "pooling": "mean",
        "context": 1,
        "max_length": 128,
        "dropout": 0.1,
        "layer_decay": 1.0,
        "epochs": 3,
        "batch": 32,
        "rate": 2e-5,
    }
)
FURTHER_PRETRAINING: Mapping[str, Any] = MappingProxyType(
    {"pretraining_text": 200_000, "lm_epochs": 1, "lm_batch": 64, "lm_rate": 5e-5}
)
BERT_SUBSTITUTE = "bert-base-uncased: all-mpnet-base-v2 in our measured runs (--set encoder=FOLDER)"

_OF_THE_NETWORK = (
    "encoder",
    "pooling",
    "context",
    "max_length",
    "dropout",
    "layer_decay",
    "hidden",
    *FURTHER_PRETRAINING,
)


def fine_tuned(
    labels: Sequence[str],
    settings: Mapping[str, Any],
    *,
    weighting: str = "none",
    warming: bool = False,
    **network: Any,
) -> "NeuralClassifier":
    """A transformer over the labels, with those of a recipe's settings that are meant for one.

    >>> fine_tuned(["joy", "anger"], FINE_TUNING, context=2).settings["context"]
    2
    """
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.models.torch.training import Training

    chosen = {name: settings[name] for name in _OF_THE_NETWORK if name in settings}
    training = Training(
        epochs=settings["epochs"],
        batch=settings["batch"],
        rate=settings["rate"],
        weighting=weighting,
        warming=warming,
    )
    return NeuralClassifier(labels, "transformer", {**chosen, **network}, training)
