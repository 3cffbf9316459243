"""A pretrained encoder that only provides features. It is never trained, so several networks can share it."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from weakref import WeakValueDictionary

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from emoscope.models.text.contextual_rows import FrozenFeatures, HalfFloats
from emoscope.models.text.padding import padded
from emoscope.models.torch.pretrained import (
    FOLDER,
    Encoder,
    PretrainedTokenizer,
    load_architecture,
    load_encoder,
    save_architecture,
)

_WEIGHTS = "frozen.safetensors"
_MAX_CACHE_BYTES = 3 << 30
_BATCH = 128


class FrozenEncoder:
    """Half-precision vectors of tokens, cached, so that an ensemble over one encoder computes them once.

    The weights are rounded to half precision at once, so a saved encoder gives the same vectors.
    """

    def __init__(self, encoder: Encoder, tokenizer: PretrainedTokenizer) -> None:
        self.encoder = encoder.half().float().eval().requires_grad_(False)
        self.tokenizer = tokenizer
        self._cache: dict[tuple[int, bytes], HalfFloats] = {}
        self._cache_bytes = 0
        self._saved: Path | None = None

    @property
    def width(self) -> int:
        """The size of a token's vector."""
        return self.encoder.width

    def vectors(self, rows: Sequence[NDArray[np.int32]], device: torch.device, *, layers: int = 1) -> list[HalfFloats]:
        """The vectors of each row's tokens: the last layer's, or the mean of the last `layers`."""
        keys = [(layers, row.tobytes()) for row in rows]
        missing = {key: row for key, row in zip(keys, rows, strict=True) if key not in self._cache}
        vectors_of = {key: self._cache[key] for key in keys if key in self._cache}
        order = sorted(missing, key=lambda key: len(missing[key]))
        self.encoder.to(device)
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            vectors = self._computed([missing[key] for key in chosen], device, layers)
            for key, vector in zip(chosen, vectors, strict=True):
                vectors_of[key] = vector
                self._keep(key, vector)
        return [vectors_of[key] for key in keys]

    def _computed(self, rows: Sequence[NDArray[np.int32]], device: torch.device, layers: int) -> list[HalfFloats]:
        table = torch.from_numpy(padded(rows, self.tokenizer.padding)).to(device)
        mask = (table != self.tokenizer.padding).long()
        with torch.inference_mode(), torch.autocast(device.type, torch.float16, enabled=device.type == "cuda"):
            vectors = self.encoder(table, mask, torch.zeros_like(table), layers).half().cpu().numpy()
        return [vectors[number, : len(row)].copy() for number, row in enumerate(rows)]

    def _keep(self, key: tuple[int, bytes], vector: HalfFloats) -> None:
        if self._cache_bytes + vector.nbytes > _MAX_CACHE_BYTES:
            self._cache.clear()
            self._cache_bytes = 0
        self._cache[key] = vector
        self._cache_bytes += vector.nbytes

    def save(self, folder: Path) -> None:
        """Write the whole encoder; copies within one run become hard links, where the file system supports them."""
        save_architecture(folder, self.encoder, self.tokenizer)
        path = folder / FOLDER / _WEIGHTS
        path.unlink(missing_ok=True)
        if self._saved is not None and self._saved.is_file():
            try:
                path.hardlink_to(self._saved)
                return
            except OSError:
                pass
        save_file(half_precision(self.encoder), path)
        self._saved = path


class EncoderFeatures(FrozenFeatures):
    """Vectors of words from the last `layers` of an encoder."""

    def __init__(self, frozen: FrozenEncoder, device: torch.device, layers: int) -> None:
        self.frozen = frozen
        self.device = device
        self.layers = layers
        self.tokenizer: PretrainedTokenizer = frozen.tokenizer
        self.longest = frozen.encoder.longest

    def vectors(self, rows: Sequence[NDArray[np.int32]]) -> list[HalfFloats]:
        return self.frozen.vectors(rows, self.device, layers=self.layers)

    def save(self, folder: Path) -> None:
        self.frozen.save(folder)


_SHARED: WeakValueDictionary[str, FrozenEncoder] = WeakValueDictionary()


def frozen_encoder(name: str) -> FrozenEncoder:
    """A pretrained encoder by hub name or folder; the same object for all while it is in use."""
    key = f"name:{Path(name).resolve() if Path(name).is_dir() else name}"
    if key in _SHARED:
        return _SHARED[key]
    encoder = _SHARED[key] = _shared(FrozenEncoder(*load_encoder(name)))
    return encoder


def load_frozen(folder: Path) -> FrozenEncoder:
    """Read what `save` wrote; members of an ensemble with the same encoder share one object."""
    encoder, tokenizer = load_architecture(folder)
    encoder.load_state_dict(load_file(folder / FOLDER / _WEIGHTS))
    return _shared(FrozenEncoder(encoder, tokenizer))


def _shared(frozen: FrozenEncoder) -> FrozenEncoder:
    """An encoder in use with the same weights and vocabulary, else this one."""
    digest = sha256(str((frozen.encoder.model.config.model_type, len(frozen.tokenizer))).encode())
    for name, value in sorted(half_precision(frozen.encoder).items()):
        digest.update(name.encode())
        digest.update(value.numpy().tobytes())
    return _SHARED.setdefault(f"content:{digest.hexdigest()}", frozen)


def half_precision(module: nn.Module) -> dict[str, Tensor]:
    """The weights of a module at half precision, as they are saved."""
    return {
        name: (value.half() if value.is_floating_point() else value).cpu().contiguous()
        for name, value in module.state_dict().items()
    }
