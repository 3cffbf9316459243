"""Text classifiers from the Hugging Face hub: `emoscope.load("hf:owner/name")`, or `hf:` and a folder."""

from pathlib import Path

from emoscope.core.errors import EmoscopeError, first_line
from emoscope.core.extras import check_installed, require
from emoscope.detector.bundle import Bundle, Head
from emoscope.detector.model import FittedModel
from emoscope.models.block import BLOCKS
from emoscope.models.onnx.hub import GRAPHS, HubClassifier

PREFIX = "hf:"
_WEIGHTS = "model.safetensors"


def load_hub(name: str) -> FittedModel:
    """A text classifier by `hf:owner/name`, `hf:owner/name@revision` or `hf:folder`.

    With an ONNX graph it runs without torch; without one, the extra `train` is needed.
    """
    wanted = name.removeprefix(PREFIX)
    folder = Path(wanted) if Path(wanted).is_dir() else _fetched(wanted)
    kind = "hub-graph" if any((folder / graph).is_file() for graph in GRAPHS) else "hub-network"
    if kind == "hub-network":
        check_installed("torch", "transformers", extra="train")
    block_class = BLOCKS[kind]
    assert issubclass(block_class, HubClassifier)
    block = block_class.of(folder)
    # The mix of labels in its training data is not known.
    even = {label: 1 / len(block.labels) for label in block.labels}
    head = Head(name="labels", labels=block.labels, trained=even)
    return FittedModel(Bundle(name=wanted, task="hub", heads=(head,)), block)


def _fetched(wanted: str) -> Path:
    """The folder of a model in the hub's cache, downloaded if needed: an ONNX graph, else weights."""
    hub = require("huggingface_hub", extra="huggingface")
    repository, _, revision = wanted.partition("@")
    chosen = {"revision": revision or None}
    try:
        folder = Path(hub.snapshot_download(repository, allow_patterns=["*.json", *GRAPHS, "*.onnx_data"], **chosen))
        if not any((folder / graph).is_file() for graph in GRAPHS):
            folder = Path(hub.snapshot_download(repository, allow_patterns=["*.json", _WEIGHTS], **chosen))
    except (OSError, ValueError, hub.errors.HfHubHTTPError) as error:
        raise EmoscopeError(f"{PREFIX}{wanted}: cannot be fetched ({first_line(error)})") from None
    return folder
