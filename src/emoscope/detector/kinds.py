"""The kinds of models a bundle may hold, each opened by a function of its own."""

from pathlib import Path

from emoscope.detector.bundle import Backend, Bundle, Head


def load_nano(folder: Path, bundle: Bundle, head: Head) -> Backend:
    """Hashed n-grams and a linear classifier."""
    from emoscope.models.linear.nano import NanoModel

    del bundle, head  # it has one head, and its labels lie with its weights
    return NanoModel.load(folder)


def load_encoder(folder: Path, bundle: Bundle, head: Head) -> Backend:
    """A transformer as an ONNX graph."""
    from emoscope.detector.encoder import EncoderModel

    return EncoderModel.load(folder, bundle).head(head.name)


def load_blocks(folder: Path, bundle: Bundle, head: Head) -> Backend:
    """A trained run as it is, or exported so that it needs no torch."""
    from emoscope.detector.blocks import BlockModel

    del bundle
    return BlockModel.load(folder, head)
