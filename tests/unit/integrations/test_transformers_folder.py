"""Runs and students as folders of transformers: what its pipeline answers is what the detector answers."""

import json
from pathlib import Path

import numpy as np
import pytest

import emoscope
from emoscope import EmoscopeError
from kits.corpus_command import run, stdout_of
from kits.emocontext_files import make_corpus
from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
DIALOGUES = [["I am so happy"], ["hello", "why did you do this", "I hate you"], ["you lost", "no"]]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a tiny BERT that reads three turns."""
    folder = tmp_path_factory.mktemp("run")
    encoder = make_tiny_encoder(folder / "encoder")
    data = make_corpus(folder)
    settings = {"encoder": str(encoder), "epochs": 1}
    emoscope.train("hsu", "emotionx-friends", folder / "hsu", root=_friends(data), settings=settings, splits=("train",))
    return folder / "hsu"


def _friends(data: Path) -> Path:
    said = [("I am so happy", "joy"), ("what is this", "neutral"), ("I cry alone", "sadness"), ("I hate you", "anger")]
    dialogue = [
        {"speaker": "Ross", "utterance": text, "emotion": label, "annotation": "5000000"} for text, label in said
    ]
    (data / "emotionx").mkdir()
    (data / "emotionx" / "friends.json").write_text(json.dumps([dialogue] * 6), encoding="utf-8")
    return data


def answers(folder: Path, dialogues: list[list[str]]) -> np.ndarray:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, trust_remote_code=True).eval()
    last = [dialogue[-model.config.context :] for dialogue in dialogues]
    rows = [tokenizer.sep_token.join(turns[::-1] if model.config.reverse else turns) for turns in last]
    with torch.inference_mode():
        logits = model(**tokenizer(rows, return_tensors="pt", padding=True, truncation=True)).logits
    return np.asarray(logits.softmax(-1).double())


@pytest.mark.filterwarnings("ignore")
def test_a_run_answers_as_the_detector(trained: Path, tmp_path: Path) -> None:
    said = json.loads(stdout_of("export", trained, "-o", tmp_path / "hub", "--to", "transformers", "--json"))
    detector = emoscope.load(trained)
    assert said == {"output": str(tmp_path / "hub"), "labels": list(detector.labels)}
    np.testing.assert_allclose(answers(tmp_path / "hub", DIALOGUES), detector.predict_proba(DIALOGUES), atol=1e-5)
    classify = transformers.pipeline("text-classification", str(tmp_path / "hub"), trust_remote_code=True)
    assert classify("I am so happy")[0]["label"] == detector.detect("I am so happy").label
    card = (tmp_path / "hub" / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nlanguage: en\n")
    assert "emotionx-friends/train" in card


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("pooling", ["cls", "max", "last-turn", "last-turn-max", "mean+focus"])
def test_every_pooling(kind: str, pooling: str, tmp_path: Path) -> None:
    from emoscope.core.dialogue import Dialogue, Example
    from emoscope.core.fit_context import FitContext
    from emoscope.models.export.transformers_folder import write_transformers
    from emoscope.models.torch.transformer import Transformer

    encoder = make_tiny_encoder(tmp_path / "encoder", kind)
    options = {"context": 3, "hidden_size": 8 if pooling == "cls" else 0, "reverse": pooling == "last-turn-max"}
    network = Transformer(3, encoder=str(encoder), pooling=pooling, **options)
    network.prepare([], FitContext(device="cpu"))
    network.eval()
    write_transformers(network, tmp_path / "hub", ["a", "b"], places=[2, 0], shift=np.log([2.0, 0.5]))
    examples = [Example.last(Dialogue.of(dialogue)) for dialogue in DIALOGUES]
    with torch.inference_mode():
        logits = network(network.collate(network.encode(examples)))[:, [2, 0]]
    expected = (logits + torch.tensor([2.0, 0.5]).log()).softmax(-1)
    np.testing.assert_allclose(answers(tmp_path / "hub", DIALOGUES), expected, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_a_student_is_saved_with_one_set_of_labels(tmp_path: Path) -> None:
    from emoscope.core.dialogue import Dialogue, Example
    from emoscope.core.fit_context import FitContext
    from emoscope.models.torch.multitask import MultiTaskClassifier

    encoder = make_tiny_encoder(tmp_path / "encoder", "mpnet")
    heads = {"first": ["x", "y"], "second": ["u", "v", "w"]}
    student = MultiTaskClassifier(heads, settings={"encoder": str(encoder), "context": 3}, training={"epochs": 1})
    examples, targets = student.targets(
        {"first": [Example(Dialogue.of(["I am glad"]), 0, "x"), Example(Dialogue.of(["so sad"]), 0, "y")]}
    )
    student.fit(examples, targets, FitContext(device="cpu")).save(tmp_path / "student")
    stdout_of("export", tmp_path / "student", "-o", tmp_path / "hub", "--to", "transformers", "--labels", "second")
    expected = student.predict_proba([Example.last(Dialogue.of(dialogue)) for dialogue in DIALOGUES], "second")
    np.testing.assert_allclose(answers(tmp_path / "hub", DIALOGUES), expected, atol=1e-5)


def test_models_that_do_not_fit_transformers_are_refused(tmp_path: Path) -> None:
    assert run("export", tmp_path, "-o", tmp_path / "hub", "--to", "transformers")[0] == 2
    assert run("export", tmp_path, "-o", tmp_path / "hub", "--to", "onnx")[0] == 2
    emoscope.train("nano", "emocontext", tmp_path / "nano", root=make_corpus(tmp_path))
    with pytest.raises(EmoscopeError, match="only a single one fits transformers"):
        from emoscope.runs.transformers_folder import save_for_transformers

        save_for_transformers(tmp_path / "nano", tmp_path / "hub")
