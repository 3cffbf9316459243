"""`verify` and `evaluate`: official scores end to end, and clear words for files that cannot be scored."""

import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.learnt import Overlap
from emoscope.evaluation.provenance import write_provenance
from emoscope.evaluation.score import evaluate, evaluate_labels, read_gold
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split
from kits.task_files import emocontext_file, emotionx_file, iest_file, labels_file, run

GOLD = ["happy", "happy", "sad", "angry", "others", "others", "others", "others", "sad", "angry"]
SAID = ["happy", "others", "sad", "angry", "happy", "others", "others", "sad", "others", "sad"]
SIX = ["anger", "disgust", "fear", "joy", "sad", "surprise"]


# The score


def test_emocontext_by_hand(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", GOLD)
    said = emocontext_file(tmp_path / "said.txt", SAID)
    found = evaluate(get_task("emocontext"), gold, said, samples=500)
    # Computed in test_metrics: three hits, six gold emotions, six said ones.
    assert found.score == pytest.approx(0.5)
    assert found.scores.accuracy == found.scores.micro_f1 == pytest.approx(5 / 10)
    assert found.per_class["sad"].model_dump() == pytest.approx(
        {"precision": 1 / 3, "recall": 1 / 2, "f1": 0.4, "support": 2}
    )
    # F1: others 2*2/(4+4), happy 2*1/(2+2), sad 2*1/(3+2), angry 2*1/(1+2).
    assert found.scores.macro_f1 == pytest.approx((0.5 + 0.5 + 0.4 + 2 / 3) / 4)
    assert found.confusion.tolist() == [[2, 1, 1, 0], [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 1]]
    assert found.interval.low <= 0.5 <= found.interval.high
    assert found.notes == []


def test_emotionx_discards_what_is_not_scored(tmp_path: Path) -> None:
    gold = emotionx_file(tmp_path / "gold.json", ["joy", "surprise", "neutral", "anger", "non-neutral", "sadness"])
    labels = ["joy", "joy", "neutral", "neutral", "neutral", "anger"]
    said = emotionx_file(tmp_path / "said.json", labels, submitted=True)
    found = evaluate(get_task("emotionx-friends"), gold, said, samples=100)
    # Of six utterances four count; joy and neutral are right.
    assert (found.score, found.scores.items) == (0.5, 4)
    assert found.discarded == {"surprise": 1, "non-neutral": 1}
    assert found.notes == ["gold items left out, as the task does not score their label: surprise (1), non-neutral (1)"]


def test_emotionx_refuses_a_foreign_label_on_a_scored_utterance(tmp_path: Path) -> None:
    """The official script ends with an exception there."""
    gold = emotionx_file(tmp_path / "gold.json", ["joy", "sadness"])
    said = emotionx_file(tmp_path / "said.json", ["joy", "surprise"], submitted=True)
    with pytest.raises(InputError, match="line 2: unknown label 'surprise'"):
        evaluate(get_task("emotionx-friends"), gold, said, samples=100)


def test_iest_by_hand(tmp_path: Path) -> None:
    """Precision, recall and F1 of each of the six classes, their macro average, and micro-F1."""
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in (*SIX, "joy", "joy")])
    said = labels_file(tmp_path / "said.txt", ["joy", *SIX[1:], "joy", "sad"])
    found = evaluate(get_task("iest"), gold, said, samples=100)
    figures = {label: (each.precision, each.recall, each.f1) for label, each in found.per_class.items()}
    # joy: gold 3, said 3, hit 2. sad: gold 1, said 2, hit 1. anger: gold 1, never said. The others are all right.
    expected = dict.fromkeys(SIX, (1.0, 1.0, 1.0)) | {
        "anger": (0.0, 0.0, 0.0), "joy": (2 / 3, 2 / 3, 2 / 3), "sad": (1 / 2, 1.0, 2 / 3),
    }  # fmt: skip
    assert {label: pytest.approx(each) for label, each in expected.items()} == figures
    assert found.score == found.scores.macro_f1 == pytest.approx((0 + 2 / 3 + 2 / 3 + 3) / 6)
    assert found.scores.micro_f1 == pytest.approx(6 / 8)


def test_iest_with_a_label_outside_the_six(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX])
    said = labels_file(tmp_path / "said.txt", [*SIX[:5], "love"])
    found = evaluate(get_task("iest"), gold, said, samples=100)
    assert found.score == pytest.approx(5 / 7)
    assert found.labels == (*SIX, "love")
    assert found.per_class["love"].support == 0


def test_gold_may_be_a_plain_label_list(tmp_path: Path) -> None:
    gold = labels_file(tmp_path / "trial-v3.labels", SIX)
    said = labels_file(tmp_path / "said.txt", SIX)
    assert evaluate(get_task("iest"), gold, said, samples=50).score == 1


def test_labels_in_memory_are_scored_alike(tmp_path: Path) -> None:
    task = get_task("emocontext")
    gold, said = emocontext_file(tmp_path / "g.txt", GOLD), emocontext_file(tmp_path / "s.txt", SAID)
    there, here = evaluate(task, gold, said, samples=300), evaluate_labels(task, GOLD, SAID, samples=300)
    assert there.interval == here.interval
    assert (there.confusion == here.confusion).all()
    assert here.gold is None


def test_the_rank_among_the_published(tmp_path: Path) -> None:
    gold, said = emocontext_file(tmp_path / "g.txt", GOLD), emocontext_file(tmp_path / "s.txt", GOLD)
    rank = evaluate(get_task("emocontext"), gold, said, samples=50).rank
    assert rank is not None
    assert (rank.rank, rank.of) == (1, 16)
    assert rank.caveat == "published figures are on Test2; a score on other data is not comparable"


@pytest.mark.data
def test_a_published_file_is_known_by_its_content(data_folder: Path, tmp_path: Path) -> None:
    task = get_task("emocontext")
    copy = tmp_path / "renamed.txt"
    copy.write_bytes((data_folder / "emocontext" / "dev.txt").read_bytes())
    found, located = read_gold(task, copy), read_gold(task, find_split(task, "dev", data_folder))
    assert (found.split, found.revision) == (located.split, located.revision) == ("dev", "unlabelled-test")
    assert len(found.labels) == 2755


@pytest.mark.data
def test_the_commands_on_real_files(data_folder: Path, tmp_path: Path) -> None:
    task = get_task("emocontext")
    examples = list(task.read(data_folder / "emocontext" / "dev.txt"))
    said = tmp_path / "others.txt"
    task.write_submission(said, examples, ["happy"] * len(examples))
    result = run("evaluate", said, "--task", "emocontext", "--split", "dev", "--data", data_folder, "--json")
    found = json.loads(result.stdout)
    # All happy: 142 hits, 2,755 said, 142 + 125 + 150 gold emotions (Table 2).
    assert found["score"] == pytest.approx(2 * 142 / (2755 + 417))
    assert found["rank"] is None and "nothing tells" in found["no_rank"]
    gold = data_folder / "emocontext" / "dev.txt"
    found = json.loads(run("evaluate", said, "--task", "emocontext", "--gold", gold, "--json").stdout)
    assert found["rank"] is None and "nothing tells" in found["no_rank"]
    write_provenance(said, "a model of other data", Overlap(0, 2755))
    found = json.loads(run("evaluate", said, "--task", "emocontext", "--gold", gold, "--json").stdout)
    assert "this score is on split 'dev'" in found["rank"]["caveat"]


# The commands


def test_evaluate_prints_tables(tmp_path: Path) -> None:
    gold, said = emocontext_file(tmp_path / "g.txt", GOLD), emocontext_file(tmp_path / "s.txt", SAID)
    result = run("evaluate", said, "-t", "emocontext", "-g", gold, "--samples", "200")
    assert result.exit_code == 0
    assert "0.5000  micro-averaged F1 over happy, sad and angry" in result.stdout
    assert "95 % interval" in result.stdout
    assert "(bootstrap, 200 samples, seed 0)" in result.stdout
    assert "would rank" in result.stdout
    assert "Confusion (gold in rows, predicted in columns)" in result.stdout


def test_evaluate_as_json_is_one_document(tmp_path: Path) -> None:
    gold, said = emocontext_file(tmp_path / "g.txt", GOLD), emocontext_file(tmp_path / "s.txt", SAID)
    arguments = ["evaluate", said, "-t", "emocontext", "-g", gold, "--json", "--samples", "200", "--seed", "4"]
    found = json.loads(run(*arguments).stdout)
    assert {"metric", "score", "per_class", "confusion", "interval", "rank"} <= set(found)
    assert found["metric"] == "micro-f1"
    assert found["confusion"]["labels"] == ["others", "happy", "sad", "angry"]
    assert found["interval"]["seed"] == 4
    assert found["interval"]["level"] == 0.95
    assert json.loads(run(*arguments).stdout) == found


def test_a_foreign_label_is_warned_of(tmp_path: Path) -> None:
    gold = iest_file(tmp_path / "gold.csv", [(label, "that") for label in SIX])
    said = labels_file(tmp_path / "said.txt", [*SIX[:5], "[b]love"])
    result = run("evaluate", said, "-t", "iest", "-g", gold, "--samples", "20")
    assert "counted as wrong: [b]love (1)" in result.stderr
    assert "[b]love" in result.stdout


def test_verify_accepts_and_refuses(tmp_path: Path) -> None:
    asked = emocontext_file(tmp_path / "asked.txt", None, count=3)
    good = emocontext_file(tmp_path / "good.txt", ["happy", "sad", "others"])
    result = run("verify", good, "--task", "emocontext", "--against", asked)
    assert (result.exit_code, result.stdout) == (0, f"{good}: accepted\n")
    bad = emocontext_file(tmp_path / "bad.txt", ["happy", "glad", ""])
    result = run("verify", bad, "--task", "emocontext", "--against", asked)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"{bad}, row 3: unknown label 'glad', expected one of others, happy, sad, angry; did you mean 'happy'?",
        f"{bad}, row 4: label is missing",
    ]
    result = run("verify", bad, "--task", "emocontext", "--against", asked, "--json")
    assert (result.exit_code, json.loads(result.stdout)["accepted"]) == (1, False)


# Mistakes


def test_unlabelled_gold_is_reported(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", None, count=2)
    said = emocontext_file(tmp_path / "said.txt", ["sad", "sad"])
    result = run("evaluate", said, "-t", "emocontext", "-g", gold)
    assert isinstance(result.exception, EmoscopeError)
    assert str(result.exception) == f"{gold}: has no labels: scoring needs a labelled file"


def test_partly_labelled_gold_is_reported(tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(
        json.dumps([[{"speaker": "A", "utterance": "x", "emotion": "joy"}, {"speaker": "A", "utterance": "y"}]])
    )
    with pytest.raises(InputError, match="item 2: has no label; only 1 of the 2 items have one"):
        read_gold(get_task("emotionx-push"), gold)


def test_gold_without_a_scored_label_is_reported(tmp_path: Path) -> None:
    gold = emotionx_file(tmp_path / "gold.json", ["surprise", "fear"])
    said = emotionx_file(tmp_path / "said.json", ["joy", "joy"], submitted=True)
    with pytest.raises(InputError, match="has no label that emotionx-friends scores"):
        evaluate(get_task("emotionx-friends"), gold, said)


@pytest.mark.parametrize("labels", [SIX[:5], [*SIX, "joy"]])
def test_wrong_count_is_reported(tmp_path: Path, labels: list[str]) -> None:
    said = labels_file(tmp_path / "said.txt", labels)
    with pytest.raises(InputError, match=f"has {len(labels)} labels, expected 6"):
        evaluate(get_task("iest"), labels_file(tmp_path / "gold.labels", SIX), said)


def test_items_that_differ_from_gold_are_reported(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["sad", "sad"])
    said = emocontext_file(tmp_path / "said.txt", ["sad", "sad"])
    said.write_text(said.read_text().replace("c1", "changed"))
    with pytest.raises(InputError, match="row 3: is not the same item as in the gold file"):
        evaluate(get_task("emocontext"), gold, said)


@pytest.mark.parametrize("strange", [[f"w{number}" for number in range(21)], ["x" * 200]])
def test_unknown_labels_are_counted_in_the_error(tmp_path: Path, strange: list[str]) -> None:
    rows = [*strange, *["joy"] * 5]
    said, gold = (
        labels_file(tmp_path / "s.txt", ["joy", *rows]),
        labels_file(tmp_path / "g.labels", ["joy", *["joy"] * len(rows)]),
    )
    with pytest.raises(InputError, match=f"has {len(strange)} labels that iest does not have"):
        evaluate(get_task("iest"), gold, said)


def test_unequal_lists_in_memory_are_reported() -> None:
    with pytest.raises(EmoscopeError, match="2 gold labels but 1 predictions"):
        evaluate_labels(get_task("iest"), ["joy", "joy"], ["joy"])


@pytest.mark.parametrize("content", [b"\x00\x01\x02", b"", b"id\tturn1\n0\ta\n", b"\xff\xfea\x00", b"x" * (1 << 21)])
def test_files_without_predictions_raise_a_clear_error(tmp_path: Path, content: bytes) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["sad", "sad"])
    said = tmp_path / "said.txt"
    said.write_bytes(content)
    for command, option in (("evaluate", "--gold"), ("compare", "--gold"), ("errors", "--gold")):
        result = run(command, said, "-t", "emocontext", option, gold)
        assert isinstance(result.exception, EmoscopeError)
        assert str(result.exception).startswith(str(said))
    # The same file as gold.
    result = run("evaluate", gold, "-t", "emocontext", "--gold", said)
    assert isinstance(result.exception, EmoscopeError)


def test_nan_labels_are_foreign_labels(tmp_path: Path) -> None:
    gold = emocontext_file(tmp_path / "gold.txt", ["sad", "sad"])
    said = emocontext_file(tmp_path / "said.txt", ["sad", "nan"])
    assert evaluate(get_task("emocontext"), gold, said, samples=20).outside == {"nan": 1}


@pytest.mark.parametrize("options", [[], ["--gold", "a.txt", "--split", "dev"]])
def test_one_reference_is_needed(tmp_path: Path, options: list[str]) -> None:
    said = labels_file(tmp_path / "said.txt", SIX)
    result = run("evaluate", said, "-t", "iest", *options)
    assert str(result.exception) == "give either --gold FILE or --split NAME"
    result = run("verify", said, "-t", "iest", *[option.replace("--gold", "--against") for option in options])
    assert str(result.exception) == "give either --against FILE or --split NAME"


def test_missing_files_are_reported(tmp_path: Path) -> None:
    there, gone = labels_file(tmp_path / "said.txt", SIX), tmp_path / "gone.txt"
    for arguments in (
        ["evaluate", gone, "-t", "iest", "--gold", there],
        ["evaluate", there, "-t", "iest", "--gold", gone],
        ["verify", gone, "-t", "iest", "--against", there],
    ):
        assert str(run(*arguments).exception) == f"{gone}: no such file"
