import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.fit_context import FitContext
from emoscope.tasks.datasets.unlabelled import unlabelled_dialogues
from kits.tiny_encoder import make_tiny_encoder

torch = pytest.importorskip("torch")

from emoscope.models.torch import masked_lm
from emoscope.models.torch.checkpoint import Epoch
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.masked_lm import MaskedLanguageModel, pretrain_encoder
from emoscope.models.torch.network import Item
from emoscope.models.torch.training import Training
from emoscope.models.torch.transformer import Transformer

CPU = FitContext(device="cpu")
DIALOGUES = [
    Dialogue.of(["hello you", "i am so happy", "good day"]),
    Dialogue.of(["why are you sad", "i lost my dog", "no no no"]),
    Dialogue.of(["stop it", "i hate you", "shut up"]),
] * 4
PLAN = Training(epochs=15, batch_size=12, learning_rate=2e-2)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_encoder(tmp_path_factory.mktemp("bert"))


def prepared(bert: Path, **settings: object) -> Transformer:
    network = Transformer(2, encoder=str(bert), context=2, **settings)  # type: ignore[arg-type]
    network.prepare([], CPU)
    return network


def model_of(network: Transformer, *, following: bool = False) -> MaskedLanguageModel:
    return MaskedLanguageModel(network.encoder, network.tokenizer, network.window, following)


def items_of(network: Transformer, copies: int = 1) -> list[Item]:
    examples = [Example(dialogue, turn) for dialogue in DIALOGUES for turn in range(3)] * copies
    return [{"row": row} for row in network.window.rows(examples, network.tokenizer)]


def test_masks_as_bert_does(bert: Path) -> None:
    network = prepared(bert, speakers="names", names=("Joey",))
    torch.manual_seed(0)
    model, items = model_of(network), items_of(network, copies=100)
    batch = model.collate(items)
    before = [piece for item in items for piece in item["row"].token_ids.tolist()]
    open_pieces = sum(piece not in network.tokenizer.special for piece in before)
    hidden, shown = batch["hidden"], batch["token_ids"].flatten()[batch["places"]]
    assert len(hidden) / open_pieces == pytest.approx(0.15, abs=0.01)
    assert not set(hidden.tolist()) & set(network.tokenizer.special)
    assert (shown == network.tokenizer.mask).float().mean().item() == pytest.approx(0.8, abs=0.02)
    assert (shown == hidden).float().mean().item() == pytest.approx(0.1, abs=0.02)
    # What was not chosen stays as it was.
    restored = batch["token_ids"].clone().flatten()
    restored[batch["places"]] = hidden
    assert restored[batch["mask"].flatten() == 1].tolist() == before


def test_favoured_words_are_masked_every_second_time(bert: Path) -> None:
    network = prepared(bert)
    torch.manual_seed(0)
    model = MaskedLanguageModel(
        network.encoder, network.tokenizer, network.window, following=False, favoured=["happy", "sad", "unheardofword"]
    )
    items = items_of(network, copies=200)
    before = np.concatenate([item["row"].token_ids for item in items])
    hidden = model.collate(items)["hidden"].numpy()
    for word, share in (("happy", 0.5), ("sad", 0.5), ("dog", 0.15)):
        (number,) = network.tokenizer.token_ids([word])[0]
        assert (hidden == number).sum() / (before == number).sum() == pytest.approx(share, abs=0.03)


def test_swapped_turns_are_from_other_rows(bert: Path) -> None:
    network = prepared(bert)
    torch.manual_seed(0)
    model, items = model_of(network, following=True), items_of(network)
    rows, answers = model._exchanged([item["row"] for item in items])
    for made, item, answer in zip(rows, items, answers.tolist(), strict=True):
        row = item["row"]
        assert np.array_equal(made.token_ids[: made.first], row.token_ids[: row.first])
        assert made.last == len(made.token_ids)
        has_context = row.first > 1
        assert (answer == -1) == (not has_context)
        if answer == 1 or not has_context:
            assert np.array_equal(made.token_ids, row.token_ids)
    asked = answers[answers >= 0]
    assert 0.2 < asked.mean() < 0.8
    turns = {item["row"].token_ids[item["row"].first :].tobytes() for item in items}
    assert {row.token_ids[row.first :].tobytes() for row in rows} <= turns


def test_exchanged_turns_are_cut_to_the_window(bert: Path) -> None:
    network = prepared(bert, max_length=8)
    rows = network.window.rows(
        [Example(Dialogue.of(["i am so very happy", "hi"]), 1), Example(Dialogue.of(["hi", "i hate my dog"]), 1)],
        network.tokenizer,
    )
    made = masked_lm._with_turn(rows[0], rows[1], 8)
    assert network.tokenizer.text(made.token_ids.tolist()) == "[CLS] i am very happy [SEP] i [SEP]"


@pytest.mark.parametrize("following", [False, True])
def test_loss_falls_and_the_encoder_learns(bert: Path, following: bool) -> None:
    network = prepared(bert)
    before = network.encoder.embeddings.weight.detach().clone()
    curve = pretrain_encoder(network, DIALOGUES, PLAN, CPU, following=following)
    assert curve[-1].loss < 0.6 * curve[0].loss
    assert not torch.equal(network.encoder.embeddings.weight, before)


def test_the_same_text_is_read_once(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []
    learn = MaskedLanguageModel.learn

    def counted(*arguments: Any) -> list[Epoch]:
        calls.append(1)
        return learn(*arguments)

    monkeypatch.setattr(MaskedLanguageModel, "learn", counted)
    monkeypatch.setattr(masked_lm, "_LAST", {})
    plan = Training(epochs=1, batch_size=8)
    first, second, other = prepared(bert), prepared(bert), prepared(bert)
    pretrain_encoder(first, DIALOGUES, plan, CPU)
    pretrain_encoder(second, DIALOGUES, plan, CPU)
    assert len(calls) == 1
    assert torch.equal(first.encoder.embeddings.weight, second.encoder.embeddings.weight)
    pretrain_encoder(other, DIALOGUES, plan, FitContext(device="cpu", seed=1))
    assert len(calls) == 2
    assert not torch.equal(first.encoder.embeddings.weight, other.encoder.embeddings.weight)
    # Repeated from the start, not from memory.
    monkeypatch.setattr(masked_lm, "_LAST", {})
    again = prepared(bert)
    pretrain_encoder(again, DIALOGUES, plan, CPU)
    assert torch.equal(first.encoder.embeddings.weight, again.encoder.embeddings.weight)


def test_a_classifier_reads_before_it_learns(bert: Path, tmp_path: Path) -> None:
    examples = [Example(dialogue, 1) for dialogue in DIALOGUES]
    labels = ["good", "bad", "bad"] * 4
    settings = {"encoder": str(bert), "context": 2, "pretraining": "masked+next", "lm_epochs": 2}
    answers = {}
    for text in (None, 0):
        block = NeuralClassifier(
            ("good", "bad"), "transformer", {**settings, "pretraining_text": text}, Training(epochs=1, batch_size=4)
        )
        block.fit(examples, labels, FitContext(device="cpu", checkpoints=tmp_path / str(text)))
        answers[text] = block.predict_proba(examples)
    assert not np.array_equal(answers[None], answers[0])
    assert (tmp_path / "None" / "pretraining" / "progress.json").is_file()
    assert not (tmp_path / "0" / "pretraining").exists()


def test_nothing_to_read_is_an_error(bert: Path) -> None:
    with pytest.raises(EmoscopeError, match="no text"):
        pretrain_encoder(prepared(bert), [], PLAN, CPU)


# Unlabelled text


def resources(folder: Path) -> FitContext:
    scripts = folder / "auxiliary" / "friends-scripts"
    scripts.mkdir(parents=True)
    script = (
        "### 0101\nThe title\nWritten by: Somebody\n[Scene: a bar]\nROSS: (sad) Hi. [waves]\nJoey: (sits)\nJoey: Hey!\n"
    )
    with gzip.open(scripts / "friends.txt.gz", "wt", encoding="utf-8") as handle:
        handle.write(script + "[Scene: later]\nMr. Heckles: Noise.\n")
    (folder / "emotionx").mkdir()
    said = [[{"speaker": "A", "utterance": "hi", "utterance_de": "hello"}, {"speaker": "B", "utterance": "bye"}]]
    for name in ("friends.augmented", "emotionpush"):
        (folder / "emotionx" / f"{name}.json").write_text(json.dumps(said), encoding="utf-8")
    for name, text in (
        ("tweeteval/irony/train_text.txt", "one\ntwo\none\n"),
        ("tweeteval/irony/test_text.txt", "no\n"),
        ("goemotions/ekman/train.tsv", "a comment\t3\tx1\nanother\t1,2\tx2\na comment\t0\tx3\n"),
    ):
        path = folder / "auxiliary" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    path = folder / "auxiliary" / "semeval2017-4a" / "train" / "a.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("1\tpositive\tthree\n", encoding="utf-8")
    (folder / "emocontext").mkdir()
    dialogues = "id\tturn1\tturn2\tturn3\tlabel\n0\thi\twhat\tbye\thappy\n"
    (folder / "emocontext" / "train.txt").write_text(dialogues, encoding="utf-8")
    (folder / "iest").mkdir()
    (folder / "iest" / "labelled.csv").write_text("joy\tso [#TRIGGERWORD#] when\n", encoding="utf-8")
    (folder / "iest" / "heldout-unlabelled.csv").write_text("no [#TRIGGERWORD#]\n", encoding="utf-8")
    return FitContext(resources=folder)


def test_sources(tmp_path: Path) -> None:
    fit_context = resources(tmp_path)

    def texts(source: str, limit: int | None = None) -> list[tuple[str, ...]]:
        return [dialogue.texts for dialogue in unlabelled_dialogues(source, [], fit_context, limit=limit)]

    assert texts("friends-scripts") == [("Hi.", "Hey!"), ("Noise.",)]
    assert texts("friends") == [("hi", "bye"), ("hello", "bye")]
    assert texts("tweets") == [("one",), ("two",), ("three",)]
    assert texts("tweets+emotionpush") == [("one",), ("two",), ("three",), ("hi", "bye"), ("hello", "bye")]
    assert texts("emocontext+comments") == [("hi", "what", "bye"), ("a comment",), ("another",)]
    assert texts("iest") == [("so [#TRIGGERWORD#] when",)]
    assert texts("tests") == [("no [#TRIGGERWORD#]",)]
    official = "joy\tan [#TRIGGERWORD#] one\nsad\tan [#TRIGGERWORD#] one\n"
    (tmp_path / "iest" / "train-v3.csv").write_text(official, encoding="utf-8")
    assert texts("iest") == [("an [#TRIGGERWORD#] one",)]  # the re-split is the official test set
    assert texts("tweets", limit=2) == [("one",), ("two",)]
    speakers = [turn.speaker for turn in unlabelled_dialogues("friends-scripts", [], fit_context)[0].turns]
    assert speakers == ["Ross", "Joey"]


def test_sources_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match="no unlabelled text 'books'"):
        unlabelled_dialogues("books", [], CPU)
    with pytest.raises(EmoscopeError, match=r"this needs auxiliary/friends-scripts/friends\.txt\.gz"):
        unlabelled_dialogues("friends-scripts", [], CPU)
    with pytest.raises(EmoscopeError, match="holds no test set of emocontext"):
        unlabelled_dialogues("tests", [], FitContext(resources=tmp_path))
    fit_context = resources(tmp_path)
    (tmp_path / "iest" / "heldout-unlabelled.csv").write_text("\xff", encoding="latin-1")
    with pytest.raises(InputError, match="heldout-unlabelled"):
        unlabelled_dialogues("tests", [], fit_context)
    (tmp_path / "emotionx" / "emotionpush.json").write_text('{"a": 1}', encoding="utf-8")
    (tmp_path / "emocontext" / "train.txt").write_text("id\tturn1\n1\thi\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train\.txt, row 1: expected the header"):
        unlabelled_dialogues("emocontext", [], fit_context)
    (tmp_path / "iest" / "labelled.csv").unlink()
    with pytest.raises(InputError, match=r"holds neither train-v3\.csv nor labelled\.csv"):
        unlabelled_dialogues("iest", [], fit_context)
    with pytest.raises(InputError, match=r"emotionpush\.json"):
        unlabelled_dialogues("emotionpush", [], fit_context)
