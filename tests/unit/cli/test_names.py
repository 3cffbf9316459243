"""Names that a command offers, explains or guesses: completion, settings, labels; progress in a pipe."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from emoscope.cli import output
from emoscope.cli.completion import complete_label, complete_labels, complete_model, complete_system, complete_task
from emoscope.core.emotion_words import closest_label
from emoscope.detector import load
from emoscope.systems import SYSTEMS
from kits.corpus_command import run, stdout_of


def test_shells_are_offered_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "mine").mkdir(parents=True)
    (tmp_path / "runs" / "mine" / "bundle.json").touch()
    assert complete_task("ie") == ["iest"]
    assert "snu-ids" in complete_system("")
    assert complete_model("") == ["default", "open", "nano", "runs/"]
    assert complete_model("runs/") == [str(Path("runs/mine"))]
    assert complete_labels("") == list(load().heads)
    assert set(complete_label("")) == set(load().labels)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_shows_its_settings(name: str) -> None:
    shown = json.loads(stdout_of("systems", name, "--json"))
    assert all(setting["meaning"] for setting in shown["settings"])
    assert shown["settings"][0]["name"] in stdout_of("systems", name)


@pytest.mark.parametrize(
    ("word", "meant"), [("mad", "angry"), ("joy", "happy"), ("Angyr", "angry"), ("scared", None), ("zzz", None)]
)
def test_the_label_that_was_meant(word: str, meant: str | None) -> None:
    assert closest_label(word, ["others", "happy", "sad", "angry"]) == meant


def test_published_people_need_no_task() -> None:
    assert stdout_of("human", "--published", "--json") == stdout_of("human", "--published", "--task", "iest", "--json")
    code, _, message = run("human", "judgements.csv")
    assert (code, "--task" in message) == (2, True)


def test_progress_in_a_pipe_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(output, "_LINE_EVERY", 0.0)
    assert list(output.progress("texts", range(250))) == list(range(250))
    with output.progress_bar("training") as report:
        report("epoch 1", 0.5)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["texts: 100", "texts: 200", "training: epoch 1"]
    assert lines[0].endswith("a second") and lines[2].endswith("left")


def test_baseline_for_a_custom_corpus(tmp_path: Path) -> None:
    labels = load("nano").labels
    rows = [{"id": str(number), "turns": ["I hate you"], "label": labels[0]} for number in range(3)]
    (tmp_path / "test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    about = {"format": 1, "name": "mine", "title": "t", "description": "d", "labels": labels, "terms": "none"}
    about |= {"metric": {"name": "macro-f1", "description": "m"}, "splits": {"test": {"file": "test.jsonl"}}}
    (tmp_path / "corpus.json").write_text(json.dumps(about))
    out = tmp_path / "out.txt"
    arguments = ("--task", tmp_path, "--split", "test", "--format", "labels", "-o", out)
    assert json.loads(stdout_of("predict", "default", *arguments, "--json"))["labels"] == 3
    assert out.read_text().split() == ["angry"] * 3
    (tmp_path / "corpus.json").write_text(json.dumps(about | {"labels": ["up", "down"]}))
    code, _, message = run("predict", "default", *arguments)
    assert (code, "whose labels are up, down" in message) == (2, True)


def test_nano_is_trained_without_torch(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="nano learns with scikit-learn")
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'transformers', 'lightgbm', 'xgboost', 'gensim', 'onnx'):\n"
        "            raise ModuleNotFoundError(name, name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from pathlib import Path\n"
        "from kits.emocontext_files import make_corpus\n"
        "import emoscope\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "emoscope.train('nano', 'emocontext', folder / 'run', root=make_corpus(folder))\n"
        "print(emoscope.load(folder / 'run').detect('I am so happy').label is not None)\n"
    )
    tests = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tests)
    assert done.stdout.strip() == "True", done.stderr
