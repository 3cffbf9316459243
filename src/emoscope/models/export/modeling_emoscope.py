"""The model in this folder for transformers: `AutoModelForSequenceClassification.from_pretrained(folder,
trust_remote_code=True)`.

A text is the last `context` turns of a dialogue, joined with the tokenizer's separator. The last turn is labelled; with
`reverse` it comes first. This file needs only torch and transformers.
"""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SequenceClassifierOutput


class EmoscopeConfig(PretrainedConfig):
    """The encoder's configuration and that of the classifier on top of it."""

    model_type = "emoscope"

    def __init__(
        self,
        encoder: dict[str, Any] | None = None,
        pooling: str = "mean",
        middle_size: int = 0,
        context: int = 1,
        reverse: bool = False,
        segments: bool = False,
        separator: int = 0,
        mask: int = 0,
        **options: Any,
    ) -> None:
        self.encoder = encoder or {}
        self.pooling = pooling
        self.middle_size = middle_size
        self.context = context
        self.reverse = reverse
        self.segments = segments
        self.separator = separator
        self.mask = mask
        super().__init__(**options)


class EmoscopeClassifier(PreTrainedModel):
    """Encoder, pooling, and a linear layer, or one of `middle_size` before it."""

    config_class = EmoscopeConfig

    def __init__(self, config: EmoscopeConfig) -> None:
        super().__init__(config)
        self.encoder = AutoModel.from_config(AutoConfig.for_model(**config.encoder))
        if hasattr(self.encoder, "pooler"):
            self.encoder.pooler = None
        width = self.encoder.config.hidden_size * (2 if config.pooling == "mean+focus" else 1)
        middle: list[nn.Module] = []
        if config.middle_size:
            middle = [nn.Linear(width, config.middle_size), nn.Tanh()]
        self.head = nn.Sequential(*middle, nn.Linear(config.middle_size or width, config.num_labels))
        self.post_init()

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, labels: Tensor | None = None, **_: Any
    ) -> SequenceClassifierOutput:
        """The logits of each row, and the loss if there are labels."""
        inside = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        labelled = self._labelled(input_ids, inside.bool())
        extra = {}
        if self.config.segments:
            others = inside.bool() & ~labelled
            others[:, 0] = False
            extra["token_type_ids"] = (others if self.config.reverse else labelled & others.any(1, True)).long()
        states = self.encoder(input_ids=input_ids, attention_mask=inside, **extra).last_hidden_state
        logits = self.head(self._pooled(states, input_ids, inside.bool(), labelled))
        loss = None if labels is None else nn.functional.cross_entropy(logits, labels)
        return SequenceClassifierOutput(loss=loss, logits=logits)

    def _labelled(self, input_ids: Tensor, inside: Tensor) -> Tensor:
        """A mask of the turn to label, its separator included: the last turn or, with `reverse`, the first."""
        ends = (input_ids == self.config.separator) & inside
        ends[:, 0] = False  # some encoders use the same token at the start and the end
        before = ends.cumsum(1) - ends.long()  # turns that have ended before this token
        labelled = (before == (0 if self.config.reverse else ends.sum(1, True) - 1)) & inside
        labelled[:, 0] = False
        return labelled

    def _pooled(self, states: Tensor, input_ids: Tensor, inside: Tensor, labelled: Tensor) -> Tensor:
        pooling = self.config.pooling
        if pooling == "cls":
            return states[:, 0]
        if pooling in ("mask", "mean+focus"):
            masked = input_ids == self.config.mask
            instead = inside if pooling == "mask" else labelled
            focus = torch.where(masked.any(1, True), masked, instead)
            mean = _mean_of(states, focus)
            return mean if pooling == "mask" else torch.cat([_mean_of(states, inside), mean], -1)
        focus = labelled if pooling.startswith("last-turn") else inside
        if pooling.endswith("max"):
            return states.masked_fill(~focus[..., None], float("-inf")).amax(1)
        return _mean_of(states, focus)


def _mean_of(states: Tensor, places: Tensor) -> Tensor:
    chosen = places[..., None]
    return (states * chosen).sum(1) / chosen.sum(1)
