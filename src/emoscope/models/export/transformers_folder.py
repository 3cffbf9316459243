"""Write a fine-tuned transformer as a `transformers` folder: configuration, weights, tokenizer, and code."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.models.torch.network import Network
from emoscope.models.torch.pretrained import quiet
from emoscope.models.torch.transformer import Transformer

CODE = Path(__file__).with_name("modeling_emoscope.py")


def write_transformers(
    network: Network,
    folder: Path,
    labels: Sequence[str],
    *,
    places: Sequence[int],
    temperature: float = 1.0,
    shift: NDArray[np.float64] | None = None,
) -> None:
    """Write a network with the outputs at `places`, named `labels`.

    The last layer includes the temperature and `shift`, the log-ratio of the prior to the training prior, so that
    transformers gives the same probabilities as the detector.
    """
    if not isinstance(network, Transformer) or network.frozen is not None or network.window.special:
        kind = "it marks speakers" if isinstance(network, Transformer) and network.window.special else "it is none"
        raise EmoscopeError(f"cannot be saved for transformers: only a fine-tuned transformer can, and {kind}")
    import torch
    from safetensors.torch import save_file

    model: Any = network  # torch types its attributes as tensors or modules
    settings, encoder = network.settings, model.encoder.model
    described = encoder.config.to_dict()
    number = dict(enumerate(labels))
    config: dict[str, Any] = {
        "architectures": ["EmoscopeClassifier"],
        "auto_map": {
            "AutoConfig": f"{CODE.stem}.EmoscopeConfig",
            "AutoModelForSequenceClassification": f"{CODE.stem}.EmoscopeClassifier",
        },
        "id2label": number,
        "label2id": {label: place for place, label in number.items()},
        "max_position_embeddings": described["max_position_embeddings"],
        "pad_token_id": network.tokenizer.padding,
        "encoder": {key: value for key, value in described.items() if key not in ("id2label", "label2id")},
        "pooling": settings.pooling,
        "middle_size": settings.hidden_size,
        "context": settings.context,
        "reverse": settings.reverse,
        "segments": settings.segments and described.get("type_vocab_size", 0) > 1,
        "separator": network.tokenizer.end,
        "mask": network.tokenizer.mask,
    }
    from emoscope.models.export.modeling_emoscope import EmoscopeConfig

    folder.mkdir(parents=True, exist_ok=True)
    with quiet():
        EmoscopeConfig(**config).save_pretrained(folder)
    weights = {f"encoder.{name}": value for name, value in encoder.state_dict().items()}
    layers = [module for module in model.head if hasattr(module, "weight")]
    for place, layer in enumerate(layers):
        weight, bias = layer.weight, layer.bias
        if layer is layers[-1]:
            moved = torch.zeros(len(places)) if shift is None else torch.from_numpy(shift).float()
            weight, bias = weight[list(places)] / temperature, bias[list(places)] / temperature + moved
        weights |= {f"head.{2 * place}.weight": weight, f"head.{2 * place}.bias": bias}
    save_file(
        {name: value.detach().cpu().contiguous().clone() for name, value in weights.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    network.tokenizer.save(folder, max_length=network.window.length)
    shutil.copyfile(CODE, folder / CODE.name)
