"""Any neural system as a model that runs without torch: networks over words, votes, cascades and blends."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kits.tiny_encoder import make_tiny_encoder  # skips this module where torch is missing

pytest.importorskip("onnx")

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import folder_size
from emoscope.core.fit_context import FitContext
from emoscope.core.text import TRIGGER
from emoscope.detector.bundle import Head
from emoscope.models.block import Block
from emoscope.models.ensembles.blend import Blend
from emoscope.models.ensembles.combine import Cascade, Folds, Majority, Mean
from emoscope.models.ensembles.voting import MultiStepVote
from emoscope.models.linear.classifier import LinearClassifier
from emoscope.models.linear.ngram_block import NgramBlock
from emoscope.models.onnx.exported_words import ExportedWords
from emoscope.models.torch.classifier import AuxiliaryHead, NeuralClassifier
from emoscope.models.torch.trigger_lm import TriggerWords
from emoscope.runs.export import export_bundle, export_run
from emoscope.runs.predict import predictor
from emoscope.runs.train import train
from emoscope.tasks import get_task
from kits.affect_files import make_data

LABELS = ("others", "happy", "sad", "angry")
SMALL: dict[str, Any] = {"vectors": "random", "embedding_size": 8, "hidden_size": 6, "min_count": 1, "max_length": 12}
WORDS = ("so glad", "what a day", "I cry", "leave me", "fine then", "we won the cup today", "no")


def chats(number: int = 24) -> list[Dialogue]:
    """Dialogues of one to four turns, some without a word, some longer than what is read."""
    draw = np.random.default_rng(5)
    made = [[WORDS[word] for word in draw.integers(len(WORDS), size=draw.integers(1, 5))] for _ in range(number)]
    made += [["", "hm", ""], ["\U0001f600"], [" ".join(WORDS * 3), "so"], ["..."]]
    return [Dialogue.of(turns) for turns in made]


def fitted(block: Block) -> Block:
    dialogues = chats()
    examples = [Example(dialogue, len(dialogue) - 1) for dialogue in dialogues]
    return block.fit(examples, [LABELS[number % 4] for number in range(len(examples))], FitContext(device="cpu"))


def network(name: str, labels: tuple[str, ...] = LABELS, heads: Any = (), **settings: Any) -> NeuralClassifier:
    return NeuralClassifier(
        labels, name, {**SMALL, **settings}, {"epochs": 1, "batch_size": 8, "learning_rate": 0.01}, heads
    )


def head_of(labels: tuple[str, ...] = LABELS) -> Head:
    return Head(name="emocontext", labels=labels, trained={label: 1 / len(labels) for label in labels})


def exported(block: Block, folder: Path) -> emoscope.Detector:
    export_bundle(
        block, folder, name="mine", task="emocontext", heads=[head_of()], dialogues=None, reference=chats(4)[:2]
    )
    return emoscope.load(folder)


def assert_same(block: Block, folder: Path, tolerance: float = 1e-5) -> None:
    """The export answers as the block does, alone and in any company."""
    made = exported(block, folder)
    dialogues = chats()
    expected = block.predict_proba([Example(dialogue, len(dialogue) - 1) for dialogue in dialogues])
    found = made.predict_proba(dialogues)
    assert np.abs(found - expected).max() < tolerance
    assert np.array_equal(np.concatenate([made.predict_proba([each]) for each in dialogues]), found)
    assert made.predict_proba([]).shape == (0, 4)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("recurrent", {"pooling": "attention+last", "dense_size": 5}),
        ("recurrent", {"cell": "gru", "bidirectional": False, "num_layers": 2, "context": 1}),
        ("hierarchical", {"skip": True}),
        ("semi-hierarchical", {}),
        ("convolutional", {"hidden_size": None, "num_filters": 4, "turns": "separate"}),
        ("convolutional", {"hidden_size": None, "num_filters": 4, "turns": "joined", "dense_size": 3}),
        ("ulmfit", {"vectors": None, "pretraining_text": 0, "tune_epochs": 1, "num_layers": 2, "backward": True}),
    ],
)
def test_networks_over_words(name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    block = network(name, **settings)
    block.settings = {key: value for key, value in block.settings.items() if value is not None}
    assert_same(fitted(block), tmp_path / "model")


def test_coarser_questions_are_asked_too(tmp_path: Path) -> None:
    question = AuxiliaryHead((("others",), ("happy", "sad", "angry")))
    assert_same(fitted(network("recurrent", heads=[question])), tmp_path / "model")


def test_combinations(tmp_path: Path) -> None:
    words = [network("recurrent"), network("hierarchical")]
    gate = network("recurrent", ("others", "emotion"))
    rest = network("recurrent", ("happy", "sad", "angry"))
    blocks: dict[str, Block] = {
        "majority": Majority(words),
        "folds": Folds([network("recurrent") for _ in range(2)], vote=True),
        "cascade": Cascade([gate, rest], LABELS, "others"),
        "vote": MultiStepVote(LABELS, "others", [words[0]], [rest], [gate]),
        "blend": Blend([network("recurrent"), NgramBlock(LABELS, bits=8)], folds=2),
    }
    for name, block in blocks.items():
        assert_same(fitted(block), tmp_path / name)


def test_a_transformer_beside_words(tmp_path: Path) -> None:
    encoder = str(make_tiny_encoder(tmp_path / "encoder"))
    settings = {"encoder": encoder, "max_length": 24, "context": 3}
    transformer = NeuralClassifier(LABELS, "transformer", settings, {"epochs": 1, "batch_size": 8})
    assert_same(fitted(Mean([transformer, network("recurrent")])), tmp_path / "model", 1e-4)


def contextual(encoder: Path, name: str = "contextual", **settings: Any) -> NeuralClassifier:
    chosen = {"encoder": str(encoder), "hidden_size": 4, "max_length": 24, **settings}
    return NeuralClassifier(LABELS, name, chosen, {"epochs": 2, "batch_size": 8, "learning_rate": 0.01})


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("contextual", {}),
        ("contextual", {"reader": "none", "pooling": "mean", "sentence": True, "num_layers": 2}),
        ("contextual", {"reader": "gru", "context": 3, "context_reader": "lstm", "dense_size": 5}),
        (
            "contextual",
            {
                "reader": "cnn",
                "num_filters": 4,
                "sentence": True,
                "context": 4,
                "future": 2,
                "context_reader": "gru",
                "context_bidirectional": True,
                "residual": True,
            },
        ),
        ("contextual-hierarchical", {"embedding_size": 5, "vectors": "random", "min_count": 1, "encoder_layers": 2}),
    ],
)
def test_networks_over_a_frozen_encoder(kind: str, name: str, settings: dict[str, Any], tmp_path: Path) -> None:
    encoder = make_tiny_encoder(tmp_path / "encoder", kind)
    assert_same(fitted(contextual(encoder, name, **settings)), tmp_path / "model", 1e-3)


def test_a_frozen_transformer(tmp_path: Path) -> None:
    settings = {"encoder": str(make_tiny_encoder(tmp_path / "encoder")), "frozen": True, "max_length": 24, "context": 3}
    frozen = NeuralClassifier(LABELS, "transformer", settings, {"epochs": 1, "batch_size": 8})
    assert_same(fitted(frozen), tmp_path / "model", 1e-3)


def test_networks_that_share_a_frozen_encoder_share_its_files(tmp_path: Path) -> None:
    encoder = make_tiny_encoder(tmp_path / "encoder")
    members = [
        contextual(encoder),
        contextual(encoder, reader="cnn", num_filters=3),
        contextual(encoder, "contextual-hierarchical", embedding_size=5, vectors="random", min_count=1),
        contextual(encoder, num_layers=2),
    ]
    assert_same(fitted(Mean(members)), tmp_path / "model", 1e-3)
    for name, different in (("weights.bin", 1), ("float.onnx", 2)):  # a graph gives the last layer, or the last two
        files = list((tmp_path / "model").rglob(f"encoder/{name}"))
        assert len(files) == 4
        assert len({path.stat().st_ino for path in files}) == different
    assert folder_size(tmp_path / "model") < sum(path.stat().st_size for path in (tmp_path / "model").rglob("*.*"))
    shutil.copytree(tmp_path / "model", tmp_path / "copy")
    block = Block.load(tmp_path / "copy" / "model")
    rows = [part._rows for part in block.parts]  # type: ignore[attr-defined]
    assert len({id(each.frozen_features) for each in rows}) == 2
    before = sorted(path.stat().st_ino for path in (tmp_path / "copy").rglob("weights.bin"))
    asked = [Example(dialogue, len(dialogue) - 1) for dialogue in chats()]
    for _ in range(2):  # also over itself; what it was loaded from stays as it was
        block.save(tmp_path / "again")
        again = Block.load(tmp_path / "again")
        assert np.array_equal(again.predict_proba(asked), block.predict_proba(asked))
    block.save(tmp_path / "third")
    third = {path.stat().st_ino for path in (tmp_path / "third").rglob("weights.bin")}
    assert not third & {*before, *(path.stat().st_ino for path in (tmp_path / "again").rglob("weights.bin"))}


def test_different_encoders_are_kept_apart(tmp_path: Path) -> None:
    made = []
    for seed in (0, 1):
        encoder = make_tiny_encoder(tmp_path / f"encoder{seed}", seed=seed)
        made.append(exported(fitted(contextual(encoder)), tmp_path / f"model{seed}"))
    first, second = (detector.predict_proba(chats()) for detector in made)
    assert not np.allclose(first, second, atol=1e-4)
    (about,) = (tmp_path / "model1").rglob("vectors.json")
    about.write_text(about.read_text(encoding="utf-8").replace('"longest"', '"l"'), encoding="utf-8")
    with pytest.raises(EmoscopeError, match="does not describe an encoder that gives vectors"):
        emoscope.load(tmp_path / "model1")
    about.unlink()
    with pytest.raises(EmoscopeError, match="no such file"):
        emoscope.load(tmp_path / "model1")
    (weights,) = (tmp_path / "model0").rglob("encoder/weights.bin")
    weights.write_bytes(weights.read_bytes()[:100])
    with pytest.raises(EmoscopeError, match="is not an exported network") as said:
        emoscope.load(tmp_path / "model0")
    assert len(str(said.value)) < len(str(tmp_path)) + 300


def test_damaged_blend_is_a_one_line_error(tmp_path: Path) -> None:
    exported(fitted(Blend([network("recurrent"), NgramBlock(LABELS, bits=8)], folds=2)), tmp_path / "model")
    kept = tmp_path / "model" / "model" / "out_of_fold.npz"
    kept.write_bytes(kept.read_bytes()[:200])
    with pytest.raises(EmoscopeError, match=r"out_of_fold\.npz: is not a file of arrays"):
        emoscope.load(tmp_path / "model")
    (tmp_path / "model" / "model" / "blend.json").write_text("{", encoding="utf-8")
    with pytest.raises(EmoscopeError, match=r"blend\.json, row 1: is not valid JSON"):
        emoscope.load(tmp_path / "model")


def test_network_over_a_frozen_encoder_reports_truncation(tmp_path: Path) -> None:
    encoder = make_tiny_encoder(tmp_path / "encoder")
    made = exported(fitted(contextual(encoder, context=2, context_reader="gru")), tmp_path / "model")
    assert [made.detect(turns).truncated for turns in (["no", "no"], ["no"] * 3, ["no"] * 1)] == [False, True, False]
    assert made.detect([" ".join(WORDS * 3)]).truncated is True


def test_guesses_of_trigger_words(tmp_path: Path) -> None:
    """The same columns, with several masks, with none, and beyond what is read."""
    encoder = make_tiny_encoder(tmp_path / "encoder", "mpnet")
    words = TriggerWords(encoder=str(encoder), pretraining_text=0, lm_batch_size=8, max_length=16)
    block = LinearClassifier(LABELS, [words, {"kind": "style"}], scale=True)
    said = ["i am [#TRIGGERWORD#] that", "so [#TRIGGERWORD#] and [#TRIGGERWORD#]", "no word", "so sad " * 9 + TRIGGER]
    examples = [Example(Dialogue.of([text]), 0) for text in said * 4]
    block.fit(examples, [LABELS[number % 4] for number in range(16)], FitContext(device="cpu", resources=tmp_path))
    made = exported(block, tmp_path / "model")
    assert np.abs(made.predict_proba([[text] for text in said]) - block.predict_proba(examples[:4])).max() < 1e-4
    again = Block.load(tmp_path / "model" / "model")
    assert isinstance(again, LinearClassifier)
    with pytest.raises(EmoscopeError, match="an exported model cannot be trained"):
        again.extractors[0].fit(examples, [], FitContext())
    for path in (tmp_path / "model").rglob("triggers.json"):
        path.write_text("{}", encoding="utf-8")
    with pytest.raises(EmoscopeError, match=r"triggers\.json: is not an exported model"):
        emoscope.load(tmp_path / "model")


def test_truncation_is_reported(tmp_path: Path) -> None:
    made = exported(fitted(network("recurrent")), tmp_path / "model")
    assert made.detect(["so glad"]).truncated is False
    assert made.detect([" ".join(WORDS * 3)]).truncated is True
    assert made.detect(["no"] * 4).truncated is True  # three turns are read


def test_an_export_answers_without_torch(tmp_path: Path) -> None:
    features = contextual(make_tiny_encoder(tmp_path / "encoder"))
    exported(fitted(Majority([network("recurrent"), network("semi-hierarchical"), features])), tmp_path / "model")
    code = (
        "import sys, emoscope; sys.modules['torch'] = None\n"
        f"print(emoscope.load({str(tmp_path / 'model')!r}).detect(['so glad', 'I cry']).label)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.strip() in LABELS


def test_runs_of_systems_are_exported(tmp_path: Path) -> None:
    """As a user does it: train, export, load. The labels are those that predicting with the run gives."""
    data = make_data(tmp_path / "data", repeats=6)
    small = {"vectors": "random", "epochs": 1, "hidden_size": 6, "embedding_size": 8}
    train("emocontext-baseline", "emocontext", tmp_path / "run", settings=small, root=data)
    bundle = export_run(tmp_path / "run", tmp_path / "model", root=data)
    assert bundle.name == "emocontext-baseline"
    asked = [["hi", "hello", "so glad"], ["I cry"], ["a", "b", "c", "d"]]
    run, model = emoscope.load(tmp_path / "run"), emoscope.load(tmp_path / "model")
    assert np.abs(run.predict_proba(asked) - model.predict_proba(asked)).max() < 1e-5
    assert [run.detect(turns).truncated for turns in asked] == [False, False, True]
    examples = [Example(Dialogue.of(turns), len(turns) - 1) for turns in asked]
    for folder, detector in (("run", run), ("model", model)):
        labels = predictor(tmp_path / folder, get_task("emocontext"))(examples)
        assert labels == [detection.label for detection in detector.with_(for_metric=True).detect_many(asked)]


def test_run_without_torch_says_what_to_install(tmp_path: Path) -> None:
    data = make_data(tmp_path / "data", repeats=6)
    small = {"vectors": "random", "epochs": 1, "hidden_size": 6, "embedding_size": 8}
    train("emocontext-baseline", "emocontext", tmp_path / "run", settings=small, root=data)
    code = f"import sys, emoscope; sys.modules['torch'] = None\nemoscope.load({str(tmp_path / 'run')!r})"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "needs torch, which is not installed" in found.stderr
    assert "emoscope export" in found.stderr


def test_blocks_that_cannot_be_exported_are_refused(tmp_path: Path) -> None:
    wide = {"context": 70, "context_reader": "gru"}
    with pytest.raises(EmoscopeError, match="cannot export a network over more than 64 turns"):
        exported(fitted(contextual(make_tiny_encoder(tmp_path / "encoder"), **wide)), tmp_path / "model")
    assert not (tmp_path / "model").exists()
    export_bundle(
        fitted(network("recurrent")), tmp_path / "words", name="a", task="emocontext", heads=[head_of()], dialogues=None
    )
    again = Block.load(tmp_path / "words" / "model")
    assert isinstance(again, ExportedWords)
    with pytest.raises(EmoscopeError, match="an exported model cannot be trained"):
        fitted(again)


def test_damaged_export_is_a_one_line_error(tmp_path: Path) -> None:
    exported(fitted(network("recurrent")), tmp_path / "model")
    graph = tmp_path / "model" / "model" / "float.onnx"
    graph.write_bytes(graph.read_bytes()[:500])
    with pytest.raises(EmoscopeError, match="is not an exported network"):
        emoscope.load(tmp_path / "model")
    (tmp_path / "model" / "model" / "vocabulary.json").unlink()
    with pytest.raises(EmoscopeError):
        emoscope.load(tmp_path / "model")
