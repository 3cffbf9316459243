"""Export a sentence encoder as a folder that computes vectors without torch."""

from collections.abc import Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue


def export_vectors(
    encoder: str, folder: Path, *, reference: Sequence[Dialogue], calibration: Sequence[Dialogue] | None
) -> None:
    """Write a pretrained encoder, unchanged, so that `SentenceEncoder(folder)` computes vectors of last turns.

    Its head is the identity, so its scores are the pooled vector of the last turn, read within three turns.
    `encoder` is a folder or a name on the hub; `calibration` quantises its weights to 8 bits.
    """
    import torch

    from emoscope.core.fit_context import FitContext
    from emoscope.models.export.exporter import Exporter
    from emoscope.models.export.network import export_network
    from emoscope.models.torch.transformer import Transformer

    network = Transformer(1, encoder=encoder, pooling="last-turn", context=3, segments=False)
    network.prepare([], FitContext(device="cpu"))
    network.replace_head(network.width)
    head = network.head[-1]
    assert isinstance(head, torch.nn.Linear)
    with torch.no_grad():
        head.weight.copy_(torch.eye(network.width))
        head.bias.zero_()
    export_network(network.eval(), folder, Exporter(folder, reference, calibration))
