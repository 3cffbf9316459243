"""A language model's guesses for the word that IEST masked: the probabilities of the organisers' trigger words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.export.exporter import Exporter
from emoscope.models.features.base import Extractor, Matrix, as_rows
from emoscope.models.former_names import FORMER_NAMES
from emoscope.models.text.window import TokenRow, Window
from emoscope.models.torch.frozen import half_precision
from emoscope.models.torch.masked_lm import MaskedLanguageModel
from emoscope.models.torch.network import sorted_batches
from emoscope.models.torch.pretrained import (
    Encoder,
    PretrainedTokenizer,
    load_architecture,
    load_encoder,
    save_architecture,
)
from emoscope.models.torch.training import Training, device_of, seed_everything
from emoscope.tasks.datasets.auxiliary import unlabelled_texts

WEIGHTS = "language_model.safetensors"


class TriggerGuesser(MaskedLanguageModel):
    """A masked language model that masks every trigger word, and 15 % of the other words as usual."""

    def __init__(self, encoder: Encoder, tokenizer: PretrainedTokenizer, window: Window) -> None:
        super().__init__(encoder, tokenizer, window, following=False)
        self.words = {emotion: _whole_words(words, tokenizer) for emotion, words in TRIGGERS.items()}
        self.candidates = [token_id for words in self.words.values() for token_id in words]

    def _masked(self, token_ids: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        chosen, shown = super()._masked(token_ids)
        triggers = np.isin(token_ids, self.candidates)
        shown[triggers] = self.tokenizer.mask
        return chosen | triggers, shown

    def guess(self, rows: Sequence[TokenRow], device: torch.device) -> Tensor:
        """The log-probability of each candidate at the row's mask, among the candidates; 0 without a mask."""
        arrays = self.window.arrays(rows, self.tokenizer)
        batch = [torch.from_numpy(table).to(device) for table in arrays.values()]
        places = batch[0] == self.tokenizer.mask
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            vectors = self.encoder(*batch)[places]
            hidden = self.scale(functional.gelu(self.transform(vectors)))
        scores = hidden.float() @ self.encoder.embeddings.weight[self.candidates].T + self.bias[self.candidates]
        guesses = torch.zeros(len(rows), len(self.candidates), device=device)
        # For a tweet with several masks, the mean over them.
        guesses.index_add_(0, places.nonzero()[:, 0], scores.log_softmax(-1))
        return guesses / places.sum(1, keepdim=True).clamp_min(1)


@dataclass(eq=False, repr=False, kw_only=True)
class TriggerWords(Extractor):
    """The log-probability that the masked word is a trigger word of each emotion, and that of each trigger word; both
    given that it is a trigger word.

    A pretrained `encoder` (hub name or folder) is trained further to guess masked words: on `pretraining_text` lines of
    tweets and comments (0: none; null: all) and on the examples without their masked words.
    """

    former_names = FORMER_NAMES
    encoder: str = "bert-base-uncased"
    pretraining_text: int | None = None
    lm_epochs: int = 1
    lm_batch_size: int = 64
    lm_learning_rate: float = 5e-5
    max_length: int = 128
    device: str = field(init=False, default="auto")
    model: TriggerGuesser | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.window = Window(length=self.max_length)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        """Train the language model; it does not see the labels."""
        del labels
        self.device = fit_context.device
        seed_everything(fit_context.seed)
        model = TriggerGuesser(*load_encoder(self.encoder), self.window)
        general = unlabelled_texts(fit_context, self.pretraining_text) if self.pretraining_text != 0 else []
        texts = [*general, *dict.fromkeys(example.text for example in examples)]
        rows = self.window.rows([Example(Dialogue((Turn(text),)), 0) for text in texts], model.tokenizer)
        plan = Training(self.lm_epochs, self.lm_batch_size, self.lm_learning_rate)
        model.learn(rows, plan, fit_context.part("language-model"))
        self.model = model.half().float()  # rounded as in the saved file, so that a loaded model gives the same numbers
        return self

    def transform(self, examples: Sequence[Example]) -> Matrix:
        """Six columns of emotions, then one for each word."""
        if self.model is None:
            raise EmoscopeError("this language model has not been trained")
        model, device = self.model, device_of(self.device)
        model.to(device)
        model.eval()
        rows = self.window.rows([Example(Dialogue((Turn(example.text),)), 0) for example in examples], model.tokenizer)
        guesses = torch.zeros(len(rows), len(model.candidates))
        with torch.inference_mode():
            for chosen in sorted_batches([len(row.token_ids) for row in rows], self.lm_batch_size):
                guesses[chosen] = model.guess([rows[number] for number in chosen], device).cpu()
        parts = torch.split(guesses, [len(words) for words in model.words.values()], dim=1)
        emotions = torch.stack([part.logsumexp(1) for part in parts], dim=1)
        return as_rows(torch.cat([emotions, guesses], dim=1).numpy())

    def export(self, exporter: Exporter) -> Extractor:
        from emoscope.models.export.triggers import export_triggers
        from emoscope.models.onnx.trigger_words import ExportedTriggerWords

        folder = exporter.new_folder()
        export_triggers(self, folder)
        exported = ExportedTriggerWords()
        exported.load_weights(folder)
        return exported

    def save_weights(self, folder: Path) -> None:
        if self.model is None:
            raise EmoscopeError("this language model has not been trained")
        save_architecture(folder, self.model.encoder, self.model.tokenizer)
        save_file(half_precision(self.model), folder / WEIGHTS)

    def load_weights(self, folder: Path) -> None:
        self.model = TriggerGuesser(*load_architecture(folder), self.window)
        self.model.load_state_dict(load_file(folder / WEIGHTS))


def _whole_words(words: Sequence[str], tokenizer: PretrainedTokenizer) -> list[int]:
    """The ids of the words that are one token; if none is, the id of the first word's first token."""
    token_ids = tokenizer.token_ids(words)
    return [cut[0] for cut in token_ids if len(cut) == 1] or [token_ids[0][0]]
