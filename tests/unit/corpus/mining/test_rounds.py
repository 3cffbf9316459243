"""Mining in rounds: judged candidates are learnt from; embedded models as encoders."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from emoscope.core.dialogue import Dialogue
from emoscope.corpus.mining.embedder import open_embedder, unit_rows
from emoscope.corpus.mining.judged import read_judged
from emoscope.corpus.mining.mine import CANDIDATES
from emoscope.corpus.mining.model_embedder import ModelEmbedder
from kits.jsonl import read_jsonl, write_jsonl
from kits.task_files import run


def test_an_embedded_model_puts_what_feels_alike_together() -> None:
    embedder = open_embedder("open")
    texts = ["I am so happy today!", "this is the best day ever", "I miss him and cannot stop crying"]
    vectors = embedder.vectors([Dialogue.of([text]) for text in texts])
    directions = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = directions @ directions.T
    assert near[0, 1] > near[0, 2]
    assert embedder.name.startswith("model-open-")
    alone = embedder.vectors([Dialogue.of([texts[2]])])[0]
    assert np.allclose(alone, vectors[2], atol=1e-5)


def test_vectors_tell_how_sure_the_model_is() -> None:
    embedder = ModelEmbedder.__new__(ModelEmbedder)
    heads: Any = [SimpleNamespace(predict_examples=lambda _: np.array([[0.9, 0.1], [0.6, 0.4]]))]
    embedder._heads = heads
    sure, unsure = unit_rows(embedder.vectors([Dialogue.of(["a"]), Dialogue.of(["b"])]))
    assert sure @ unsure < 0.99


def test_joined_encoders_count_alike() -> None:
    dialogues = [Dialogue.of([text]) for text in ("I am so happy today!", "I am so sad today!")]
    parts = [open_embedder(name).vectors(dialogues).astype(float) for name in ("ngrams", "open")]
    joined = open_embedder("ngrams+open").vectors(dialogues)

    def cosine(rows: np.ndarray) -> float:
        return float(rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1]))

    assert abs(cosine(joined) - sum(map(cosine, parts)) / 2) < 1e-5


def mining_command(folder: Path) -> list[str | Path]:
    """Write a pool and seeds; the command that mines them."""
    words = {"sad": "i miss my old dog", "happy": "what a lovely sunny day", "others": "the train leaves at nine"}
    pool = [{"id": f"{label}-{n}", "turns": [f"{text} {n}"]} for n in range(20) for label, text in words.items()]
    seeds = [{"turns": [f"{text} again {n}"], "label": label} for n in range(5) for label, text in words.items()]
    write_jsonl(folder / "pool.jsonl", pool)
    write_jsonl(folder / "seeds.jsonl", seeds)
    files = [folder / "pool.jsonl", "--seeds", folder / "seeds.jsonl", "-o", folder / "mined"]
    return ["corpus", "mine", *files, "--per-class", "4", "--others", "0", "--threshold", "0.1"]


def test_judged_candidates_join_the_seeds_and_are_not_shown_again(tmp_path: Path) -> None:
    options = mining_command(tmp_path)
    assert run(*options).exit_code == 0
    first = read_jsonl(tmp_path / "mined" / CANDIDATES)
    assert len(first) == 8
    write_jsonl(tmp_path / "judged.jsonl", [{"turns": row["turns"], "label": row["mined_as"]} for row in first])
    shown = run(*options, "--judged", tmp_path / "judged.jsonl")
    assert shown.exit_code == 0, shown.output
    second = read_jsonl(tmp_path / "mined" / CANDIDATES)
    assert second
    assert not {tuple(row["turns"]) for row in first} & {tuple(row["turns"]) for row in second}
    # A round in which nobody found an emotion teaches what to leave out.
    write_jsonl(tmp_path / "none.jsonl", [{"turns": ["the train leaves at ten"], "label": "others"}])
    assert run(*options, "--judged", tmp_path / "none.jsonl").exit_code == 0


def test_round_can_be_a_file_of_judgements_by_id(tmp_path: Path) -> None:
    options = mining_command(tmp_path)
    assert run(*options).exit_code == 0
    first = {row["id"]: row["mined_as"] for row in read_jsonl(tmp_path / "mined" / CANDIDATES)}
    judgements = tmp_path / "judgements.csv"
    answers = [f"{task},{worker},{label}\n" for task, label in first.items() for worker in ("ann", "ben")]
    judgements.write_text("task,worker,label\n" + "".join(answers))
    shown = run(*options, "--judged", judgements)
    assert shown.exit_code == 0, shown.output
    second = {row["id"] for row in read_jsonl(tmp_path / "mined" / CANDIDATES)}
    assert second
    assert not second & set(first)
    nothing_near = run(*options[:-1], "0.999")
    assert "no candidates: no dialogue is similar to a seed; try a lower --threshold" in nothing_near.output
    nothing_left = run(*options[:-1], "0.999", "--judged", judgements)
    assert "no candidates: all similar dialogues were judged already or dropped" in nothing_left.output
    judgements.write_text("task,worker,label\nsad-1,ann,sad\nsad-1,ben,happy\n")
    refused = run(*options, "--judged", judgements)
    assert "no task has a label that more than half of its judges gave" in str(refused.exception)
    judgements.write_text("task,worker,label\nnowhere,ann,sad\n")
    refused = run(*options, "--judged", judgements)
    assert refused.exit_code == 1
    assert "none of its tasks is an `id` of" in str(refused.exception)


def test_candidates_that_were_labelled_are_not_overwritten(tmp_path: Path) -> None:
    options = mining_command(tmp_path)
    assert run(*options).exit_code == 0
    labelled = tmp_path / "mined" / CANDIDATES
    write_jsonl(labelled, [{**row, "label": row["mined_as"]} for row in read_jsonl(labelled)])
    before = labelled.read_text()
    refused = run(*options, "--judged", labelled)
    assert "is the input itself; write to another file" in str(refused.exception)
    assert labelled.read_text() == before


def test_judges_of_one_dialogue_may_be_in_several_files(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "pool.jsonl", [{"id": f"d{n}", "turns": [f"turn {n}"]} for n in range(3)])
    for worker, labels in {"ann": "sad,sad,others", "ben": "happy,sad,others", "cem": "happy,sad,sad"}.items():
        rows = [f"d{n},{worker},{label}\n" for n, label in enumerate(labels.split(","))]
        (tmp_path / f"{worker}.csv").write_text("task,worker,label\n" + "".join(rows))
    write_jsonl(tmp_path / "table.jsonl", [{"turns": ["another"], "label": "sad"}])
    files = [tmp_path / name for name in ("ann.csv", "table.jsonl", "ben.csv", "cem.csv", "ann.csv")]
    judged = read_judged(files, str(tmp_path / "pool.jsonl"), ["happy", "sad"])
    found = {label: [dialogue.texts[0] for dialogue in each] for label, each in judged.items()}
    assert found == {"happy": ["turn 0"], "sad": ["another", "turn 1"], "others": ["turn 2"]}


def test_judged_label_that_no_seed_has_is_refused(tmp_path: Path) -> None:
    options = mining_command(tmp_path)
    (tmp_path / "round.csv").write_text("task,worker,label\nsad-7,a,sd\nothers-7,a,others\n", encoding="utf-8")
    refused = run(*options, "--judged", tmp_path / "round.csv")
    assert refused.exit_code == 1
    assert "round.csv: label 'sd' is no class of the seeds; did you mean 'sad'?" in str(refused.exception)
