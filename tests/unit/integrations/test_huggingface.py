"""Classifiers of the Hugging Face hub, with torch and as ONNX graphs; from folders, as nothing is fetched here."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest

import emoscope
from emoscope import EmoscopeError
from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
TEXTS = ["I am so happy", "you are bad", "happy happy day", "no"]
LABELS = {0: "joy", 1: "sadness", 2: "anger"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny classifier, as `save_pretrained` writes it."""
    made = make_tiny_encoder(tmp_path_factory.mktemp("hub") / "model")
    transformers.AutoTokenizer.from_pretrained(made).save_pretrained(made)  # with the pieces it puts around a text
    torch.manual_seed(0)
    config = transformers.AutoConfig.from_pretrained(made, id2label=LABELS, label2id={b: a for a, b in LABELS.items()})
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(made)
    return made


def pipeline_scores(folder: Path, texts: list[str]) -> np.ndarray:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.inference_mode():
        return np.concatenate([model(**tokenizer(text, return_tensors="pt")).logits.softmax(-1) for text in texts])


def test_answers_are_those_of_transformers(folder: Path) -> None:
    detector = emoscope.load(f"hf:{folder}")
    assert detector.labels == tuple(LABELS.values())
    np.testing.assert_allclose(detector.predict_proba(TEXTS), pipeline_scores(folder, TEXTS), atol=1e-5)
    assert detector.detect(["something before", TEXTS[0]]).scores == detector.detect(TEXTS[0]).scores
    assert detector.detect("day " * 1000).truncated


@pytest.mark.filterwarnings("ignore")
def test_a_graph_needs_no_torch(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="makes the graph")
    (tmp_path / "onnx").mkdir()
    for name in ("config.json", "tokenizer.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    _export(folder, tmp_path / "onnx" / "model.onnx")
    detector = emoscope.load(f"hf:{tmp_path}")
    assert type(detector._model.block).__name__ == "HubGraph"
    np.testing.assert_allclose(detector.predict_proba(TEXTS), pipeline_scores(folder, TEXTS), atol=1e-5)
    again = pickle.loads(pickle.dumps(detector))
    assert again.detect(TEXTS[0]) == detector.detect(TEXTS[0])


def test_model_that_is_not_a_classifier_is_a_one_line_error(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match=r"config\.json is missing"):
        emoscope.load(f"hf:{tmp_path}")
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**config, "id2label": {}}))
    with pytest.raises(EmoscopeError, match="names no labels"):
        emoscope.load(f"hf:{tmp_path}")


def test_missing_network_is_a_one_line_error(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")

    def refuse(*_: object, **__: object) -> str:
        raise OSError("no route to host")

    monkeypatch.setattr(hub, "snapshot_download", refuse)
    with pytest.raises(EmoscopeError, match=r"hf:some/model: cannot be fetched \(no route to host\)"):
        emoscope.load("hf:some/model")


def _export(folder: Path, path: Path) -> None:
    """The classifier as a graph with the inputs that models of the hub have."""
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()

    class Plain(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model.requires_grad_(False)

        def forward(self, input_ids: object, attention_mask: object, token_type_ids: object) -> object:
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits

    ids = torch.ones((2, 7), dtype=torch.long)
    names = ["input_ids", "attention_mask", "token_type_ids"]
    free = {name: {0: "rows", 1: "places"} for name in names}
    torch.onnx.export(
        Plain(), (ids, ids, ids * 0), path, input_names=names, output_names=["logits"], dynamic_axes=free, dynamo=False
    )
