"""Train on one corpus, evaluate on another: the mapping, what is held out, and the matrix."""

import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.runs.transfer import read_mapping, transfer
from emoscope.tasks.datasets.auxiliary import AUXILIARY_CORPORA
from kits.task_files import run

GLAD, LOW, CROSS = "what a lovely sunny day", "i miss my old dog so", "how dare you do that"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """EmoContext, ISEAR and sentiment in a few dozen lines each."""
    (tmp_path / "emocontext").mkdir()
    for split, count in (("train", 60), ("dev", 12)):
        rows = ["id\tturn1\tturn2\tturn3\tlabel"]
        for number in range(count):
            label, text = [("happy", GLAD), ("sad", LOW), ("angry", CROSS), ("others", "it is half past")][number % 4]
            rows.append(f"{number}\thi\thello\t{text} {split}{number}\t{label}")
        (tmp_path / "emocontext" / f"{split}.txt").write_text("\n".join(rows) + "\n")
    isear = tmp_path / "auxiliary" / "isear"
    isear.mkdir(parents=True)
    rows = ["Field1|SIT"]
    rows += [
        f"{label}|{text} {number}"
        for number in range(40)
        for label, text in (("joy", GLAD), ("sadness", LOW), ("anger", CROSS), ("guilt", "i took it"))
    ]
    (isear / "isear.csv").write_text("\n".join(rows) + "\n")
    sentiment = tmp_path / "auxiliary" / "semeval2017-4a" / "train"
    sentiment.mkdir(parents=True)
    rows = [
        f"{number}\t{label}\t{text} {number}"
        for number in range(40)
        for label, text in (("positive", GLAD), ("negative", CROSS), ("neutral", "it is half past"))
    ]
    (sentiment / "a.tsv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_every_corpus_with_emotions_has_a_stated_mapping() -> None:
    mapping = read_mapping()
    without = {"tweeteval-emoji", "tweeteval-offensive", "tweeteval-irony"}  # their labels are no emotions
    assert set(AUXILIARY_CORPORA) - without <= set(mapping.labels)
    for name, labels in mapping.labels.items():
        if name in AUXILIARY_CORPORA:
            assert set(labels) <= set(AUXILIARY_CORPORA[name].labels)


def test_shared_labels_are_scored_and_others_left_out(data: Path) -> None:
    matrix = transfer("nano", ["emocontext", "isear", "semeval2017-4a"], root=data)
    across = matrix.cell("emocontext", "isear")
    assert across.labels == ("joy", "sadness", "anger")  # guilt means nothing to the other
    assert across.score == 1.0  # the same words mean the same here
    assert across.majority is not None
    assert across.majority < 0.5
    polar = matrix.cell("isear", "semeval2017-4a")
    assert polar.labels == ("negative", "positive")  # ISEAR has no neutral
    assert matrix.cell("emocontext", "semeval2017-4a").labels == ("negative", "neutral", "positive")
    own = matrix.cell("isear", "isear")
    assert own.score == own.within
    assert matrix.trained["isear"] + matrix.held_out["isear"] == 120


def test_iest_to_and_from_other_corpora(data: Path) -> None:
    (data / "iest").mkdir()
    texts = {"joy": GLAD, "sad": LOW, "anger": CROSS, "fear": "it is dark", "disgust": "it smells", "surprise": "oh"}
    for name, count in (("labelled.csv", 20), ("trial.csv", 5)):
        rows = [f"{label}\tI am [#TRIGGERWORD#] that {text} {n}" for n in range(count) for label, text in texts.items()]
        (data / "iest" / name).write_text("\n".join(rows) + "\n")
    tweets = data / "auxiliary" / "tweeteval" / "emotion"
    tweets.mkdir(parents=True)
    rows = [(n, text) for n, text in enumerate((CROSS, GLAD, "we shall overcome", LOW))] * 20
    (tweets / "train_labels.txt").write_text("".join(f"{label}\n" for label, _ in rows))
    (tweets / "train_text.txt").write_text("".join(f"{text} @{n}\n" for n, (_, text) in enumerate(rows)))
    matrix = transfer("nano", ["iest", "isear", "tweeteval-emotion"], root=data)
    for other in ("isear", "tweeteval-emotion"):
        for trained, scored in (("iest", other), (other, "iest")):
            cell = matrix.cell(trained, scored)
            assert {"joy", "sadness", "anger"} <= set(cell.labels)
            assert cell.score is not None and cell.majority is not None and cell.score > cell.majority


def test_nothing_that_is_scored_is_learnt_elsewhere(data: Path) -> None:
    before = transfer("nano", ["emocontext", "isear"], root=data)
    with (data / "auxiliary" / "isear" / "isear.csv").open("a") as handle:  # EmoContext's dev, word for word
        handle.writelines(f"joy|{GLAD} dev{number}\n" for number in range(0, 12, 4))
    assert transfer("nano", ["emocontext", "isear"], root=data).trained == before.trained


def test_one_corpus_is_not_enough() -> None:
    with pytest.raises(EmoscopeError, match="at least two"):
        transfer("nano", ["emocontext"])


def test_custom_mapping(tmp_path: Path, data: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('[labels.isear]\nguilt = "sadness"\njoy = "joy"\n')
    assert read_mapping(own).labels["isear"] == {"guilt": "sadness", "joy": "joy"}
    assert read_mapping(own).labels["emocontext"]["happy"] == "joy"
    own.write_text('[labels.emocontext]\nhapy = "joy"\nsad = "sadness"\n')
    with pytest.raises(EmoscopeError, match="mapping of emocontext: no label 'hapy'; did you mean 'happy'"):
        transfer("nano", ["emocontext", "isear"], mapping=read_mapping(own), root=data)
    own.write_text('[labels.isear]\nguilt = "remorse"\n')
    with pytest.raises(InputError, match="'guilt' is mapped to 'remorse'"):
        read_mapping(own)
    own.write_text("[labels")
    with pytest.raises(InputError, match="is not a mapping in TOML"):
        read_mapping(own)
    with pytest.raises(InputError, match=r"absent.toml: no such file"):
        read_mapping(tmp_path / "absent.toml")


def test_the_command_prints_and_draws(tmp_path: Path, data: Path) -> None:
    plot = tmp_path / "matrix.png"
    words = ["transfer", "emocontext", "isear", "--data", data, "--limit", "40"]
    shown = run(*words, "--plot", plot)
    assert shown.exit_code == 0, shown.output
    assert "happy = joy" in shown.output
    assert plot.read_bytes().startswith(b"\x89PNG")
    found = json.loads(run(*words, "--json").stdout)
    assert {cell["trained_on"] for cell in found["cells"]} == {"emocontext", "isear"}
    assert found["trained"]["emocontext"] == 40


def test_a_chart_that_cannot_be_drawn_is_refused_before_anything_is_trained(tmp_path: Path) -> None:
    done = run("transfer", "no-such-corpus", "nor-this", "--plot", tmp_path / "matrix.doc")
    assert "cannot draw a chart as '.doc'" in str(done.exception)


def test_unknown_corpora_are_named() -> None:
    problem = str(run("transfer", "emocontex", "isear").exception)
    assert problem == "no task, auxiliary set or folder of a corpus 'emocontex'; did you mean 'emocontext'?"
