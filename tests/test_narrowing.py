"""Encoders whose layers' middle was narrowed."""

from pathlib import Path

import pytest

from tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")

from emoscope.errors import EmoscopeError  # noqa: E402
from emoscope.models.neural.narrowing import narrow_middle  # noqa: E402
from emoscope.models.neural.pretrained import load_encoder  # noqa: E402


def test_units_that_do_nothing_are_the_first_to_go(tmp_path: Path) -> None:
    encoder, _ = load_encoder(str(make_tiny_encoder(tmp_path)))
    encoder.eval()
    whole = encoder.model.config.intermediate_size
    with torch.no_grad():
        for layer in encoder.layers:
            layer.output.dense.weight[:, : whole // 2] = 0
    pieces = torch.tensor([[1, 5, 7, 2]])
    before = encoder(pieces, torch.ones_like(pieces))
    narrow_middle(encoder, whole - whole // 2)
    assert torch.allclose(encoder(pieces, torch.ones_like(pieces)), before, atol=1e-6)
    encoder.save(tmp_path / "narrow")
    assert encoder.model.config.intermediate_size == whole - whole // 2


def test_more_units_than_there_are_cannot_be_kept(tmp_path: Path) -> None:
    encoder, _ = load_encoder(str(make_tiny_encoder(tmp_path)))
    with pytest.raises(EmoscopeError, match="middle: expected 1 to"):
        narrow_middle(encoder, 100_000)
