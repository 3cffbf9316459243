"""Text classifiers of the Hugging Face hub that have no ONNX graph; only safetensors, never code."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.models.block import Floats
from emoscope.models.onnx.hub import HubClassifier
from emoscope.models.torch.pretrained import quiet

WEIGHTS = "model.safetensors"


class HubNetwork(HubClassifier):
    """A classifier that torch computes."""

    files = (*HubClassifier.files, WEIGHTS)

    def open(self, folder: Path) -> None:
        if not (folder / WEIGHTS).is_file():
            raise EmoscopeError(f"{folder}: has neither an ONNX graph nor {WEIGHTS}; pickled weights are not read")
        transformers = require("transformers", extra="train")
        with quiet():
            self._model = transformers.AutoModelForSequenceClassification.from_pretrained(
                folder, use_safetensors=True, trust_remote_code=False, local_files_only=True
            ).eval()
        self._segments = getattr(self._model.config, "type_vocab_size", 0) > 1

    def logits(self, token_ids: NDArray[np.int64], segments: NDArray[np.int64]) -> Floats:
        extra = {"token_type_ids": torch.from_numpy(segments)} if self._segments else {}
        ids = torch.from_numpy(token_ids)
        with torch.inference_mode():
            scores = self._model(input_ids=ids, attention_mask=torch.ones_like(ids), **extra).logits
        return np.asarray(scores.double().numpy())
