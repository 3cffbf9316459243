"""Fine-tuned transformers written as graphs: the same scores as torch gives."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kits.tiny_encoder import make_tiny_encoder, torch  # skips this module where torch is missing

pytest.importorskip("onnx")

import emoscope
from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import Head
from emoscope.detector.model import FittedModel
from emoscope.models.ensembles.combine import Folds, Mean
from emoscope.models.export.exporter import Exporter
from emoscope.models.export.network import export_network
from emoscope.models.export.quantise import byte_columns, byte_rows
from emoscope.models.export.vocabulary import pruned_tokenizer, used_pieces
from emoscope.models.onnx.exported_encoder import ExportedEncoder
from emoscope.models.onnx.layout import Layout
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.torch.pretrained import Encoder, load_encoder
from emoscope.models.torch.training import predict
from emoscope.models.torch.transformer import POOLINGS, Transformer
from emoscope.runs.export import REFERENCE, export_bundle, export_run
from kits.exported import HEADS, chats, opened, tiny_classifier, tiny_headed, tiny_network

CPU = torch.device("cpu")
LABELS = ("joy", "sadness", "anger", "neutral")


def in_torch(network: Transformer, dialogues: list[Dialogue]) -> np.ndarray:
    return predict(network, network.encode([Example(d, len(d) - 1) for d in dialogues]), CPU).numpy()


def written(network: Transformer, folder: Path, **options: object) -> ExportedEncoder:
    export_network(network, folder, Exporter(folder, REFERENCE, **options))
    return opened(folder)


def scores(network: ExportedEncoder, dialogues: list[Dialogue]) -> np.ndarray:
    return network.logits([Example.last(dialogue) for dialogue in dialogues])[0]


# The layout


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("window", [{}, {"reverse": True}, {"speakers": "names", "names": ["Ross"]}, {"context": 1}])
def test_layout_is_the_networks_own(tmp_path: Path, pooling: str, window: dict[str, object]) -> None:
    network = tiny_network(tmp_path, pooling=pooling, **window)
    tokenizer = network.tokenizer
    special = {role: getattr(tokenizer, role) for role in ("start", "end", "mask", "padding")}
    layout = Layout(network.window, pooling, True, special)
    for dialogue in chats(12):
        rows = layout.window.rows([Example.last(dialogue)], Tokenizer.read(tokenizer.description(), **special))
        feed = layout.feed(rows)
        batch = network.collate(network.encode([Example(dialogue, len(dialogue) - 1)]))
        assert feed["pieces"].T.tolist() == batch["token_ids"].tolist()
        assert feed["segments"].T.tolist() == batch["segments"].tolist()
        # Pooling the numbers of the places shows which of them count.
        places = torch.arange(batch["token_ids"].shape[1]).float()[None, :, None]
        wanted = network.pooled(places, batch)[0].numpy()
        if layout.takes_maximum:
            found = (feed["pooling"][0] + places[0, :, 0].numpy()).max(-1)
        else:
            found = feed["pooling"][0] @ places[0, :, 0].numpy()
        assert np.allclose(found, wanted, atol=1e-4)


# Single precision


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        *(("bert", {"pooling": pooling}) for pooling in POOLINGS),
        ("bert", {"hidden_size": 7}),
        ("bert", {"segments": False, "reverse": True}),
        ("bert", {"speakers": "roles", "context": 2}),
        ("bert", {"frozen": True}),
        ("mpnet", {"pooling": "mean+focus"}),
        ("mpnet", {"frozen": True, "hidden_size": 4}),
    ],
    ids=str,
)
def test_float_graph_is_what_torch_computes(tmp_path: Path, kind: str, settings: dict[str, object]) -> None:
    network = tiny_network(tmp_path, kind=kind, **settings)
    dialogues = chats(20)
    found = scores(written(network, tmp_path / "out"), dialogues)
    assert np.abs(found - in_torch(network, dialogues)).max() < 1e-4


@pytest.mark.parametrize("family", ["Roberta", "DistilBert"])
def test_other_families(tmp_path: Path, family: str) -> None:
    import transformers

    network = tiny_network(tmp_path)
    shape = {
        "vocab_size": len(network.tokenizer),
        "max_position_embeddings": 60,
        "pad_token_id": network.tokenizer.padding,
    }
    sizes = {
        "Roberta": {
            "hidden_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 32,
            "hidden_act": "relu",
        },
        "DistilBert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32},
    }
    config = getattr(transformers, f"{family}Config")(**shape, **sizes[family])
    network.encoder = Encoder(getattr(transformers, f"{family}Model")(config)).eval()
    dialogues = chats(10)
    found = scores(written(network, tmp_path / "out"), dialogues)
    assert np.abs(found - in_torch(network, dialogues)).max() < 1e-4
    assert np.abs(scores(written(network, tmp_path / "int8", calibration=chats(60, 1)), dialogues) - found).max() < 0.5


def test_unknown_families_are_refused(tmp_path: Path) -> None:
    import transformers

    network = tiny_network(tmp_path)
    config = transformers.AlbertConfig(
        hidden_size=16, embedding_size=16, num_attention_heads=2, intermediate_size=32, vocab_size=50
    )
    network.encoder = Encoder(transformers.AlbertModel(config))
    with pytest.raises(EmoscopeError, match="cannot export an encoder of type albert: expected bert"):
        written(network, tmp_path / "out")


# Bytes


def test_byte_rows_by_hand() -> None:
    table = byte_rows(np.array([[0.5, -1.27], [0.0, 0.0]], np.float32))
    assert table.numbers.tolist() == [[50, -127], [0, 0]]
    assert np.allclose(table.scales[0], 0.01)


def test_rounding_makes_up_for_itself() -> None:
    """Columns that go together may share one error; rounding each to the nearest cannot use that."""
    source = np.random.default_rng(0)
    rows = (source.normal(size=(200, 4)) @ source.normal(size=(4, 24))).astype(np.float32)
    weight = source.normal(size=(24, 8)).astype(np.float32)
    made = byte_columns(weight, rows)
    nearest = np.rint(weight / made.scales) * made.scales
    error = np.square(rows @ (made.numbers * made.scales) - rows @ weight).mean()
    assert error < 0.3 * np.square(rows @ nearest - rows @ weight).mean()


def test_bytes_stay_close_and_are_smaller(tmp_path: Path) -> None:
    network = tiny_network(tmp_path, pooling="mean+focus")
    dialogues = chats(60)
    plain = scores(written(network, tmp_path / "float"), dialogues)
    found = scores(written(network, tmp_path / "int8", calibration=chats(60, 1)), dialogues)
    assert 0 < np.abs(found - plain).mean() < 0.05 * plain.std()
    sizes = [(tmp_path / name / "weights.bin").stat().st_size for name in ("float", "int8")]
    assert sizes[1] < 0.6 * sizes[0]


# The vocabulary


def test_pruning_keeps_what_is_used(tmp_path: Path) -> None:
    _, tokenizer = load_encoder(str(make_tiny_encoder(tmp_path / "bert")))
    description, numbers = pruned_tokenizer(tokenizer.description(), used_pieces(tokenizer, ["i am so happy", "joey"]))
    assert len(numbers) < len(tokenizer)
    special = {role: numbers.index(getattr(tokenizer, role)) for role in ("start", "end", "mask", "padding")}
    small = Tokenizer.read(description, **special)
    same = ["I am SO happy", "joey [#TRIGGERWORD#] am 😂", "so… !", "[CLS] [SEP]"]
    assert [[numbers[piece] for piece in row] for row in small.token_ids(same)] == tokenizer.token_ids(same)
    # A dropped word is spelled, never unknown.
    (row,) = small.token_ids(["chandler"])
    assert len(row) == 8
    assert small.text(row) == "chandler"
    assert small.special == [numbers.index(number) for number in tokenizer.special]


def test_a_pruned_model_scores_known_words_alike(tmp_path: Path) -> None:
    network = tiny_network(tmp_path)
    texts = ["i am so happy", "why did you lie"]
    whole, small = (
        written(network, tmp_path / name, **options)
        for name, options in {"whole": {}, "small": {"vocabulary": texts}}.items()
    )
    dialogues = [Dialogue.of(texts), Dialogue.of(["so happy"]), Dialogue.of(["did you lie", "i am"])]
    assert np.array_equal(scores(whole, dialogues), scores(small, dialogues))
    assert (tmp_path / "small" / "weights.bin").stat().st_size < (tmp_path / "whole" / "weights.bin").stat().st_size


def test_only_wordpiece_is_pruned() -> None:
    with pytest.raises(EmoscopeError, match="only a WordPiece vocabulary"):
        pruned_tokenizer(json.dumps({"model": {"type": "BPE"}, "added_tokens": []}), [])


# Bundles


def heads_of(names: dict[str, tuple[str, ...]], **options: object) -> list[Head]:
    return [
        Head(name=name, labels=labels, trained=dict.fromkeys(labels, 1 / len(labels)), **options)
        for name, labels in names.items()
    ]


def test_a_bundle_has_the_heads_asked_for(tmp_path: Path) -> None:
    classifier = tiny_headed(tmp_path)
    wanted = heads_of({"tone": ("down", "up"), "mood": HEADS["mood"]})
    options = {"name": "mine", "task": "tone", "dialogues": None}
    export_bundle(classifier, tmp_path / "out", heads=wanted, **options)
    dialogues = chats(8)
    model, examples = FittedModel.load(tmp_path / "out"), [Example(d, len(d) - 1) for d in dialogues]
    assert [head.name for head in model.bundle.heads] == ["tone", "mood"]
    for head in model.bundle.heads:
        expected = classifier.predict_proba(examples, head.name)
        if head.name == "tone":
            expected = expected[:, ::-1]
        assert np.abs(model.infer(head, examples)[0] - expected).max() < 1e-4
    with pytest.raises(EmoscopeError, match="head mood has the labels good, bad, none"):
        export_bundle(classifier, tmp_path / "wrong", heads=heads_of({"mood": ("good",)}), **options)
    with pytest.raises(EmoscopeError, match="exists already"):
        export_bundle(classifier, tmp_path / "out", heads=wanted, **options)
    assert not (tmp_path / "wrong").exists()


def test_means_are_averaged(tmp_path: Path) -> None:
    parts = [tiny_classifier(tmp_path, LABELS, seed) for seed in range(3)]
    whole = Mean([Folds(parts[:2]), parts[2]], weights=[3, 1])
    options = {"name": "mean", "task": "emotionx-friends", "heads": heads_of({"emotionx-friends": LABELS})}
    export_bundle(whole, tmp_path / "out", dialogues=None, **options)
    dialogues = chats(10)
    expected = whole.predict_proba([Example(d, len(d) - 1) for d in dialogues])
    assert np.abs(emoscope.load(tmp_path / "out").predict_proba(dialogues) - expected).max() < 1e-4
    assert len(list((tmp_path / "out").rglob("network.json"))) == 3


# Runs


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a system that fine-tunes one encoder, with a prior to correct for and a decision."""
    from emoscope.runs.record import FILE, RunRecord, environment
    from emoscope.systems.hsu import Hsu
    from emoscope.tasks import get_task

    root = tmp_path_factory.mktemp("run")
    system = Hsu(get_task("emotionx-friends"))
    system.block = tiny_classifier(root, system.task.labels, pooling="mean")
    system.block.settings = {"encoder": str(root / "bert"), "context": 3, "max_length": 48}
    system.prior = np.array([0.1, 0.2, 0.3, 0.4])
    system.decision = np.array([1.0, 2.0, 1.0, 1.0])
    record = RunRecord(
        system="hsu",
        task="emotionx-friends",
        seed=0,
        examples=1,
        data={},
        data_revision="none",
        seconds=0.0,
        **environment(),
    )
    (root / "kept").mkdir()
    system.model().save(root / "kept")
    (root / "kept" / FILE).write_text(record.model_dump_json(), encoding="utf-8")
    return root / "kept"


def test_a_run_becomes_a_model(run: Path, tmp_path: Path) -> None:
    from emoscope.tasks import get_task

    bundle = export_run(run, tmp_path / "out", int8=False)
    (head,) = bundle.heads
    task = get_task("emotionx-friends")
    assert (bundle.name, head.name, head.labels) == ("hsu", "emotionx-friends", task.labels)
    assert [head.trained[label] for label in task.labels] == [0.1, 0.2, 0.3, 0.4]
    assert head.decision is not None
    assert head.decision[task.labels[1]] == 2.0
    dialogues = chats(6)
    expected = emoscope.load(run).predict_proba(dialogues)
    assert np.abs(emoscope.load(tmp_path / "out").predict_proba(dialogues) - expected).max() < 1e-4


def test_a_run_without_networks_is_exported_as_it_is(tmp_path: Path) -> None:
    from emoscope.detector.bundle import resolve

    export_run(resolve("nano"), tmp_path / "out", dialogues=chats(4))
    asked = chats(6)
    assert np.array_equal(
        emoscope.load(tmp_path / "out").predict_proba(asked), emoscope.load("nano").predict_proba(asked)
    )


def test_bytes_need_dialogues(tmp_path: Path, run: Path) -> None:
    with pytest.raises(EmoscopeError, match="need dialogues"):
        export_run(run, tmp_path / "out", dialogues=[])


def test_the_command_writes_a_model_that_runs_without_torch(run: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from emoscope.cli.app import app

    (tmp_path / "chats.jsonl").write_text(
        "".join(json.dumps({"turns": [*d.texts, "bye"]}) + "\n" for d in chats(80, 3)), encoding="utf-8"
    )
    arguments = ["export", str(run), "-o", str(tmp_path / "out"), "--dialogues", str(tmp_path / "chats.jsonl")]
    result = CliRunner().invoke(app, [*arguments, "--prune", "--json"])
    assert result.exit_code == 0, result.output
    answer = json.loads(result.stdout)
    assert answer["task"] == "emotionx-friends"
    assert answer["bytes"] == sum(path.stat().st_size for path in (tmp_path / "out").rglob("*") if path.is_file())
    forbidden = ("torch", "transformers", "onnx", "pydantic", "sklearn")
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({forbidden!r}))\n"
        f"import emoscope; print(emoscope.load({str(tmp_path / 'out')!r}).detect(['hi', 'I am so happy']).label)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in LABELS
