"""Tiny transformers, fitted to nothing, for the tests of what is written and read without torch."""

import random
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.fit_context import FitContext
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.models.torch.network import NETWORKS
from emoscope.models.torch.transformer import Transformer
from kits.tiny_encoder import make_tiny_encoder, torch

HEADS = {"mood": ("good", "bad", "none"), "tone": ("up", "down")}
WORDS = (
    *("i", "am", "so", "happy", "today", "😂", "no", "why", "did", "you", "lie", "sad", "alone", "hate", "mad", "stop"),
    *(
        "!!",
        ":)",
        "fine",
        "dog",
        "Zanzibar",
        "42",
        "…",
        "[#TRIGGERWORD#]",
        "HELLO",
        "ünïcode",
        "@someone",
        "a.example/b",
    ),
)


def tiny_network(folder: Path, *, kind: str = "bert", outputs: int = 5, **settings: Any) -> Transformer:
    """A transformer over a random tiny encoder."""
    if not (folder / kind).exists():
        make_tiny_encoder(folder / kind, kind)
    network = Transformer(outputs, encoder=str(folder / kind), **{"context": 3, "max_length": 48, **settings})
    network.prepare([], FitContext(device="cpu"))
    generator = torch.Generator().manual_seed(1)
    for parameter in network.head.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator) * 0.5
    return network.eval()


def opened(folder: Path) -> ExportedEncoder:
    """The exported transformer in a folder."""
    encoder = ExportedEncoder()
    encoder.open(folder)
    return encoder


def tiny_headed(folder: Path) -> MultiTaskClassifier:
    """A classifier with two heads, as `default` has four."""
    made = MultiTaskClassifier(HEADS, "transformer", {"pooling": "mean+focus"})
    made.network = tiny_network(folder, pooling="mean+focus", outputs=made.outputs)
    return made


def tiny_classifier(folder: Path, labels: tuple[str, ...], seed: int = 0, **settings: Any) -> NeuralClassifier:
    """A classifier with one head."""
    made = NeuralClassifier(labels, "transformer", settings)
    made.network = tiny_network(folder, outputs=len(labels), **settings)
    torch.manual_seed(seed)
    for parameter in made.network.parameters():
        parameter.data += torch.randn(parameter.shape) * 0.01 * seed
    return made


def untrained(network: str, labels: tuple[str, ...]) -> NeuralClassifier:
    """A classifier whose network is there, but has no layers."""
    made = NeuralClassifier(labels, network)
    made.network = NETWORKS[network](len(labels))
    return made


def chats(count: int, seed: int = 0) -> list[Dialogue]:
    """Random dialogues of one to five turns, some of them empty, some far too long."""
    source = random.Random(seed)
    made = []
    for _ in range(count):
        turns = []
        for _ in range(source.randint(1, 5)):
            words = source.choice((0, 1, 3, 6, 10, 60))
            turns.append(Turn(" ".join(source.choices(WORDS, k=words)), source.choice(("Ross", "Joey", None))))
        made.append(Dialogue(tuple(turns)))
    return made
