"""Several networks in one model: each answers for its heads, and equal word embeddings are stored once."""

import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.detector.bundle import Head
from emoscope.detector.model import FittedModel
from emoscope.models.block import Block
from emoscope.models.native.graph_file import GraphFile
from emoscope.models.onnx.exported_networks import ExportedNetworks
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.models.torch.reopened import reopen
from emoscope.runs.export import export_bundle
from kits.exported import HEADS, chats, tiny_headed, tiny_network
from kits.tiny_encoder import torch

OTHER = {"weather": ("sun", "rain"), "size": ("large", "small", "none")}
OPTIONS = {"name": "two", "task": "mood", "dialogues": chats(60, 1)}


def heads_of(labels: dict[str, tuple[str, ...]]) -> list[Head]:
    return [
        Head(name=name, labels=names, trained=dict.fromkeys(names, 1 / len(names))) for name, names in labels.items()
    ]


def second(folder: Path) -> MultiTaskClassifier:
    """A classifier with other heads and layers than the first, and the same word embeddings."""
    classifier = MultiTaskClassifier(OTHER, "transformer", {"pooling": "mean+focus"})
    network = classifier.network = tiny_network(folder, pooling="mean+focus", outputs=classifier.outputs)
    generator = torch.Generator().manual_seed(7)
    for name, parameter in network.named_parameters():
        if "word_embeddings" not in name:
            parameter.data += 0.05 * torch.randn(parameter.shape, generator=generator)
    return classifier


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("networks")
    classifiers = [tiny_headed(root), second(root)]
    export_bundle(classifiers, root / "both", heads=heads_of(HEADS | OTHER), **OPTIONS)
    for name, classifier in zip(("first", "second"), classifiers, strict=True):
        export_bundle(classifier, root / name, heads=heads_of(dict(classifier.heads)), **OPTIONS)
    return root


def block_of(folder: Path) -> ExportedNetworks:
    block = Block.load(folder / "both" / "model")
    assert isinstance(block, ExportedNetworks)
    return block


def test_each_network_answers_as_it_does_alone(folder: Path) -> None:
    dialogues = chats(40)
    for name, heads in (("first", HEADS), ("second", OTHER)):
        for head in heads:
            together, alone = (emoscope.load(folder / each, labels=head) for each in ("both", name))
            assert np.array_equal(together.predict_proba(dialogues), alone.predict_proba(dialogues))
            assert together.kernel == alone.kernel
    assert emoscope.load(folder / "both").heads == (*HEADS, *OTHER)


def test_equal_embeddings_are_stored_once(folder: Path) -> None:
    sizes = {name: (folder / name / "model" / "weights.bin").stat().st_size for name in ("both", "first", "second")}
    pieces = GraphFile.read(folder / "both" / "model" / "int8.onnx").constants["pieces.numbers"]
    assert sizes["first"] + sizes["second"] - sizes["both"] >= pieces.nbytes


def test_a_network_is_loaded_when_it_is_asked(folder: Path) -> None:
    detector = emoscope.load(folder / "both", labels="size")
    block = detector._model.block
    assert isinstance(block, ExportedNetworks)
    assert list(block._encoders) == ["weather"]
    other = detector.with_(labels="mood")
    assert list(block._encoders) == ["weather", ""]
    assert other.detect("so happy").label in HEADS["mood"]
    assert pickle.loads(pickle.dumps(detector)).detect("so happy") == detector.detect("so happy")


def test_the_whole_block_answers_for_all_heads(folder: Path) -> None:
    block, examples = block_of(folder), [Example.last(dialogue) for dialogue in chats(9)]
    every = block.infer(examples)
    assert every.probabilities.shape == (9, 10)
    for head in block.heads:
        network = block.of_head(head)
        alone = network.predict_proba(examples)[:, network.columns(head)]
        assert np.array_equal(every.probabilities[:, block.columns(head)], alone)
    assert block.turns_read() == 3
    long = Example.last(Dialogue.of(["no " * 200]))
    assert block.overlong([long]).all()
    with pytest.raises(EmoscopeError, match="no head 'tense'; there are: mood, tone, weather, size"):
        block.of_head("tense")


def test_damage_is_found_when_the_detector_is_made(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder / "both", tmp_path / "copy"))
    (copy / "model" / "weather.network.json").write_text("{}")
    assert emoscope.load(copy).detect("so happy").label in HEADS["mood"]
    with pytest.raises(InputError, match=r"weather.network.json: is not an encoder's description"):
        emoscope.load(copy, labels="weather")


def test_saved_again_it_is_the_same(folder: Path, tmp_path: Path) -> None:
    FittedModel.load(folder / "both").save(tmp_path / "again")
    dialogues = chats(5)
    for head in ("tone", "weather"):
        again, before = (emoscope.load(each, labels=head) for each in (tmp_path / "again", folder / "both"))
        assert np.array_equal(again.predict_proba(dialogues), before.predict_proba(dialogues))


def test_reopened_by_a_head(folder: Path) -> None:
    classifier = reopen(folder / "both", "size")
    assert classifier.heads == OTHER
    examples = [Example.last(dialogue) for dialogue in chats(20)]
    expected = emoscope.load(folder / "both", labels="size").predict_proba([each.dialogue for each in examples])
    assert np.abs(classifier.predict_proba(examples, "size") - expected).max() < 0.05


def test_networks_with_different_vocabularies_are_refused(tmp_path: Path) -> None:
    classifiers = [tiny_headed(tmp_path), second(tmp_path)]
    classifiers[1].network = tiny_network(tmp_path, kind="mpnet", outputs=classifiers[1].outputs)
    with pytest.raises(EmoscopeError, match="networks with different vocabularies cannot be in one model"):
        export_bundle(classifiers, tmp_path / "both", heads=heads_of(HEADS | OTHER), **OPTIONS)


def test_heads_are_kept_in_the_order_asked_for(tmp_path: Path) -> None:
    classifier = tiny_headed(tmp_path)
    examples = [Example.last(dialogue) for dialogue in chats(6)]
    tone = classifier.predict_proba(examples, "tone")
    classifier.keep_heads(["tone"])
    assert classifier.heads == {"tone": HEADS["tone"]}
    assert np.allclose(classifier.predict_proba(examples, "tone"), tone)
