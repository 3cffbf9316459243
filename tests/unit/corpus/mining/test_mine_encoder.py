"""Mining with a sentence encoder: written with torch, run without it."""

import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.mining.embedder import unit_rows
from emoscope.models.onnx.sentence_encoder import SentenceEncoder
from kits.corpus_command import run
from kits.exported import chats, tiny_network
from kits.tiny_encoder import HIDDEN, make_tiny_encoder, torch

pytest.importorskip("onnx")
pytest.importorskip("vaderSentiment")
if find_spec("usearch") is None:  # importing it here would be too early: see `load_usearch`
    pytest.skip("needs usearch", allow_module_level=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("encoder")
    make_tiny_encoder(folder / "bert")
    code, shown, problem = run("corpus", "encoder", folder / "bert", "-o", folder / "made", "--json")
    assert code == 0, problem
    assert json.loads(shown)["bytes"] > 0
    return folder


def test_vectors_are_those_of_the_last_turns_pieces(made: Path) -> None:
    dialogues = [Dialogue.of(["hi", "how are you", "i am so happy"]), Dialogue.of(["stop"])]
    network = tiny_network(made, pooling="last-turn", segments=False)
    with torch.no_grad():
        rows = network.window.rows([Example(dialogue, len(dialogue) - 1) for dialogue in dialogues], network.tokenizer)
        expected = []
        for row in rows:
            pieces = torch.from_numpy(row.token_ids.astype(np.int64))[None]
            states = network.encoder(pieces, torch.ones_like(pieces))[0]
            expected.append(states[row.first : row.last].mean(0).numpy())
    found = SentenceEncoder(made / "made").vectors(dialogues)
    assert found.shape == (2, HIDDEN)
    assert found == pytest.approx(np.stack(expected), abs=1e-4)


def test_vectors_do_not_depend_on_the_batch(made: Path) -> None:
    encoder = SentenceEncoder(made / "made")
    dialogues = chats(12)
    together = encoder.vectors(dialogues)
    alone = np.concatenate([encoder.vectors([dialogue]) for dialogue in dialogues])
    assert together == pytest.approx(alone, abs=1e-5)


def test_name_identifies_the_weights(made: Path, tmp_path: Path) -> None:
    make_tiny_encoder(tmp_path / "bert", seed=7)
    table = tmp_path / "some.jsonl"
    table.write_text("".join(json.dumps(dialogue.texts) + "\n" for dialogue in chats(20) if all(dialogue.texts)))
    for output in ("one", "two"):
        code, _, problem = run("corpus", "encoder", tmp_path / "bert", "-o", tmp_path / output, "--dialogues", table)
        assert code == 0, problem
    one, two = SentenceEncoder(tmp_path / "one"), SentenceEncoder(tmp_path / "two")
    assert one.name == two.name, "writing it twice gives the same files"
    assert one.name != SentenceEncoder(made / "made").name
    assert np.isfinite(one.vectors(chats(5))).all()


def test_mining_with_it(made: Path, tmp_path: Path) -> None:
    seeds = {"sad": ["i am so sad", "i cry alone"], "happy": ["so happy", "great fun"], "others": ["what is it", "ok"]}
    pool = ["i am very sad", "what is this", "so glad and happy"]
    rows = [f"{text},{label}" for label, texts in seeds.items() for text in texts]
    (tmp_path / "seeds.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    (tmp_path / "pool.csv").write_text("text\n" + "\n".join(pool) + "\n")
    encoder = SentenceEncoder(made / "made")
    emotional = [text for label in ("sad", "happy") for text in seeds[label]]
    units = [unit_rows(encoder.vectors([Dialogue.of([text]) for text in texts])) for texts in (pool, emotional)]
    nearest = np.sort((units[0] @ units[1].T).max(axis=1))
    below = int(np.diff(nearest).argmax())  # vectors of 8 bits need a gap
    threshold = nearest[below : below + 2].mean()
    paths = (tmp_path / "pool.csv", "--seeds", tmp_path / "seeds.csv", "-o", tmp_path / "out")
    options = ("--encoder", made / "made", "--threshold", threshold, "--no-prune", "--others", "0", "--json")
    code, shown, problem = run("corpus", "mine", *paths, *options)
    assert code == 0, problem
    answer = json.loads(shown)
    assert answer["encoder"] == encoder.name
    assert sum(each["candidates"] for each in answer["classes"].values()) == len(pool) - 1 - below > 0


def test_a_hugging_face_folder_is_not_ready_to_run(made: Path) -> None:
    with pytest.raises(EmoscopeError, match="`emoscope corpus encoder` makes one"):
        SentenceEncoder(made / "bert")
