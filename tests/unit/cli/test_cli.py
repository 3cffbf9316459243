"""The command line as a user types it, in its own process where that matters."""

import io
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from emoscope import cli, load
from emoscope.server.detect.pages import EXAMPLE
from emoscope.tables import read_records
from kits.corpus_command import run
from kits.emocontext_files import make_corpus


def emoscope(*arguments: str | Path, stdin: bytes | None = None, **options: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-c", "from emoscope.cli.main import run; run()", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        check=False,
        **options,  # type: ignore[call-overload]
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def test_version_and_help() -> None:
    assert emoscope("--version").stdout.startswith("emoscope 0.")
    shown = emoscope("--help").stdout
    for command in ("detect", "tasks", "systems", "data", "train", "predict", "verify", "evaluate", "compare"):
        assert command in shown


def test_detect_turns() -> None:
    done = emoscope("detect", "how are you", "fine, you?", "I am so happy 😂", "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["label"] == "joy"
    assert set(answer) == {"label", "scores", "truncated", "note"}
    assert "joy" in emoscope("detect", "how are you", "fine, you?", "I am so happy 😂").stdout


@pytest.mark.parametrize("model", ["default", "open"])
def test_the_turns_before_change_the_answer(model: str) -> None:
    detector = load(model)
    news = ["I passed the exam!", "WOOT! Congratulations!", "I am crying"]
    assert (detector.detect(news).label, detector.detect(news[2:]).label) == ("joy", "sadness")


def test_dialogues_of_emocontexts_table_1() -> None:
    detector = load("default")
    assert (
        detector.detect(
            ["How dare you to slap my child", "I will do that to you too", "Just try to do that once"]
        ).label
        == "anger"
    )
    internship = ["I just qualified for the internship", "WOOT! Congratulations!", "I started crying"]
    assert detector.detect(internship).label == "joy"


def test_detect_timeline() -> None:
    answers = json.loads(emoscope("detect", "--timeline", "--json", "I am so happy", "shut up, I hate you").stdout)
    assert [answer["label"] for answer in answers] == ["joy", "anger"]


def test_detect_files_of_every_kind(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_text("id,turn1,turn2,turn3\n7,hi,hello,I am so happy\n8,hi,hello,I hate you\n", encoding="utf-8")
    for suffix in ("csv", "tsv", "jsonl", "parquet"):
        target = tmp_path / f"out.{suffix}"
        done = emoscope("detect", source, "-o", target)
        assert done.returncode == 0, done.stderr
        reader = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}
        table = pl.read_csv(target, separator="\t") if suffix == "tsv" else reader[suffix](target)
        assert table["label"].to_list() == ["joy", "anger"]
        assert [str(value) for value in table["id"].to_list()] == ["7", "8"]
        assert table["score_joy"][0] > 0.5


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("text\nI hate you\n", ["I hate you"]),
        ('"text"\n"I hate you, really"\n', ["I hate you, really"]),
        ("id,text\n7,I hate you\n", ["I hate you"]),
        ("id\ttext\n7\tI hate you\n", ["I hate you"]),
        ('turns,id\n"[""hi"", ""I hate you""]",7\n', ["hi", "I hate you"]),
        ('"turn1","turn2"\n"hi","I hate you"\n', ["hi", "I hate you"]),
        ("sorry, text\n", ["sorry, text"]),
        ("text me\n", ["text me"]),
    ],
)
def test_a_table_in_a_pipe_is_known_by_its_header(sent: str, said: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(sent.encode())))
    assert [list(record.dialogue.texts) for record in read_records("-")] == [said]


def test_detect_pipes() -> None:
    done = emoscope("detect", "-", stdin=b'["hi", "I am so happy"]\n{"turns": ["I hate you"]}\n')
    assert [json.loads(line)["label"] for line in done.stdout.splitlines()] == ["joy", "anger"]
    done = emoscope("detect", "-", "--format", "text", stdin=b"hi\tI am so happy\nI hate you\n")
    assert done.stdout.split() == ["joy", "anger"]


def test_closed_pipe_is_not_an_error() -> None:
    code = "from emoscope.cli.main import run; run()"
    line = '["I am so happy"]\n'
    done = subprocess.run(
        f"yes '{line.strip()}' | head -20000 | {sys.executable} -c '{code}' detect - | head -1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert json.loads(done.stdout)["label"] == "joy"
    assert done.stderr == ""
    with subprocess.Popen([sys.executable, "-c", code, "systems"], stdout=subprocess.PIPE) as listing:
        assert listing.stdout is not None
        listing.stdout.close()
    assert listing.returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="writes to a full disk")
@pytest.mark.parametrize("arguments", [("systems",), ("systems", "--json"), ("detect", "-"), ("detect", "I am happy")])
def test_full_disk_is_a_one_line_error(arguments: tuple[str, ...]) -> None:
    code = "from emoscope.cli.main import run; run()"
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            input="I am happy\n",
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.stderr, done.returncode) == ("emoscope: No space left on device\n", 2)


@pytest.mark.skipif(sys.platform != "linux", reason="sends signals")
def test_ctrl_c_prints_one_line_however_often_it_is_pressed(tmp_path: Path) -> None:
    (tmp_path / "many.txt").write_text("I am happy\n" * 100_000)
    command = [sys.executable, "-c", "from emoscope.cli.main import run; run()", "detect", "many.txt", "-o", "out.csv"]
    for presses in (1, 2):
        with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
            while not list(tmp_path.glob(".out*")):
                time.sleep(0.05)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            assert process.stderr.readline() == "emoscope: interrupted\n"
            for _ in range(presses - 1):
                process.send_signal(signal.SIGINT)
            assert process.stderr.read() == ""
        assert process.returncode in {130, -signal.SIGINT}
        assert not list(tmp_path.glob("*out*"))


def test_port_in_use_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "tasks.csv").write_text("text\nI am happy\n")
    annotate = ("corpus", "annotate", tmp_path / "tasks.csv", "-o", tmp_path / "study")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for command in (("serve", "--data-dir", tmp_path / "data"), annotate):
            code, _, message = run(*command, "--port", str(port))
            assert code == 2
            assert message == (
                f"cannot listen on 127.0.0.1, port {port}: address already in use; choose others: --host, --port"
            )
    assert not (tmp_path / "data").exists() and not (tmp_path / "study").exists()


@pytest.mark.parametrize(
    ("turn", "noted"),
    [
        ("chats.csvv", True),
        ("logs/chats.xlsx", True),
        ("./chats/", True),
        ("chats/", True),
        ("/chats/today", True),
        ("ok.", False),
        ("see you.there", False),
        (":/", False),
        ("and/or", False),
        ("/me", False),
    ],
)
def test_a_mistyped_file_name_is_noted(turn: str, noted: bool, tmp_path: Path) -> None:
    done = emoscope("detect", turn, cwd=tmp_path)
    assert done.returncode == 0
    said = f"note: there is no file {turn!r}; it was read as what somebody said\n"
    assert done.stderr == (said if noted else "")


@pytest.mark.parametrize(
    ("turn", "noted"), [('{"text": "I am so angry"}', True), (' ["hi"]', True), ("[laughs]", False), ("{", False)]
)
def test_json_as_a_turn_is_noted(turn: str, noted: bool) -> None:
    done = emoscope("detect", turn)
    assert done.returncode == 0
    said = f"note: {turn} was read as what somebody said; JSON goes into a file, or a pipe: "
    assert done.stderr == (f"{said}echo '...' | emoscope detect -\n" if noted else "")


@pytest.mark.parametrize(
    "sent", ['[\n{"turns": ["hi"]},\n', '[{"turns": ["hi"]}]', '[{"turns": ["hi"]},\n{"turns": ["yo"]}]']
)
def test_a_list_of_dialogues_in_a_pipe_is_refused_in_one_line(sent: str) -> None:
    done = emoscope("detect", "-", stdin=sent.encode())
    assert done.returncode == 2
    assert done.stderr.startswith("emoscope: a JSON array cannot be read from a pipe; write one dialogue per line")
    assert done.stderr.count("\n") == 1
    assert emoscope("detect", "-", stdin=b'[{"text": "hi"}, "yo"]').returncode == 0


@pytest.mark.parametrize("option", [(), ("--timeline",), ("--explain",)])
def test_control_characters_of_a_turn_do_not_reach_the_terminal(option: tuple[str, ...]) -> None:
    shown = emoscope("detect", "\x1b[31mred\x07 one\ntwo \u202eevil", *option).stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)
    assert any("one" in line and "two" in line for line in shown.splitlines())


def test_of_a_long_turn_the_screen_shows_both_ends() -> None:
    turn = "first " + "word " * 4000 + "last"
    shown = emoscope("detect", turn).stdout
    assert len(shown) < 1000
    assert re.search(r"first .* \.\.\. .*last", shown, re.DOTALL)
    answered = emoscope("detect", "-", "--format", "text", "--json", stdin=turn.encode()).stdout
    assert json.loads(answered)[0]["turns"] == [turn]


def test_a_negative_seed_is_refused() -> None:
    code, _, said = run("evaluate", "p.txt", "--task", "iest", "--gold", "g.txt", "--seed", "-1")
    assert code == 2
    assert "--seed" in said


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["detect", "missing.csv"], "missing.csv: no such file"),
        (["detect", "hi", "--model", "nowhere"], "no model named 'nowhere'"),
        (["detect", "hi", "--model", "defualt"], "did you mean 'default'?"),
        (["detect", "hi", "--labels", "ekmann"], "has no labels named 'ekmann'; did you mean 'ekman'?"),
        (["detect", "hi", "--labels", "moods"], "it has: general, emocontext, emotionx, iest, ekman"),
        (["detect", "hi", "--labels", "ekman", "--model", "nano"], "no labels named 'ekman'; it has: emocontext"),
        (["detect", ""], "nothing to label: the turns have no text"),
        (["detect", "--json", "   ", "\n"], "nothing to label: the turns have no text"),
        (["detect", "hi", "--prior", "happy"], "--prior: expected label=number"),
        (["detect", "hi", "--prior", "sad=1,happy=1,sad=2"], "--prior: names a label twice"),
        (["train", "nanu", "--task", "emocontext", "-o", "x"], "no system named 'nanu'; did you mean 'nano'?"),
        (["train", "nano", "--task", "emo", "-o", "x"], "no task named 'emo'"),
        (
            ["predict", "nano", "--task", "iest", "--split", "test", "-o", "x"],
            "nano was trained for emocontext, not iest",
        ),
        (["predict", "nano", "--task", "emocontext", "-o", "x"], "give either --input FILE or --split NAME"),
    ],
)
def test_user_error_is_one_line(
    arguments: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMOSCOPE_DATA", str(make_corpus(tmp_path)))
    code, _, message = run(*arguments)
    assert code == 2
    assert expected in message
    assert len(message.splitlines()) == 1
    assert not (tmp_path / "x").exists()


def test_predictions_do_not_overwrite_what_they_answer(tmp_path: Path) -> None:
    dev = make_corpus(tmp_path) / "emocontext" / "dev.txt"
    before = dev.read_bytes()
    for options in ([], ["--format", "labels"]):
        code, _, message = run("predict", "nano", "-t", "emocontext", "-i", dev, "-o", dev, *options)
        assert (code, message) == (2, f"{dev}: is the input itself; write to another file")
    assert dev.read_bytes() == before


def test_a_file_without_known_columns_is_answered_with_the_option(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,message\n1,I am happy\n")
    code, _, said = run("detect", tmp_path / "a.csv")
    assert code == 2
    assert said.endswith("found: id, message; name the text's with --column")


def test_user_error_exits_with_2(tmp_path: Path) -> None:
    done = emoscope("detect", "missing.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "missing.csv: no such file" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "is empty"),
        (b"\x7fELF\x00\x01", "NUL byte"),
        (b"id\tturn1\tturn2\tturn3\n" + b"x" * 2_000_000, "row 2: line is longer"),
        (b"id\tturn1\n0\ta\n", "expected the header"),
        (b"id\tturn1\tturn2\tturn3\tlabel\n0\ta\tb\tc\tnan\n", "row 2: unknown label 'nan'"),
        (b"id\tturn1\tturn2\tturn3\n0\ta\xff\tb\tc\n", "row 2: not valid UTF-8"),
    ],
)
def test_bad_files_are_one_line_errors_and_leave_nothing(content: bytes, expected: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(content)
    out = tmp_path / "out.txt"
    for arguments in (
        ["predict", "nano", "--task", "emocontext", "--input", bad, "-o", out],
        ["evaluate", bad, "--task", "emocontext", "--gold", bad],
    ):
        code, _, message = run(*arguments)
        assert code == 2, arguments
        assert len(message.splitlines()) == 1
        assert expected in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt"]


def test_train_predict_verify_evaluate(tmp_path: Path) -> None:
    data = make_corpus(tmp_path)
    folder, out = tmp_path / "run", tmp_path / "out.txt"
    done = emoscope("train", "nano", "--task", "emocontext", "-o", folder, "--data", data, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["examples"] == 96
    assert record["dev"]["score"] == 1.0
    development = json.loads((folder / "dev.json").read_text())
    assert development["score"] == 1.0
    assert development["rank"] is None  # among scores of the test set it has no place
    unlabelled = data / "emocontext" / "testwithoutlabels.txt"
    assert emoscope("predict", folder, "-t", "emocontext", "-i", unlabelled, "-o", out).returncode == 0
    assert emoscope("verify", out, "-t", "emocontext", "--against", unlabelled).returncode == 0
    dev = data / "emocontext" / "dev.txt"
    assert emoscope("predict", folder, "-t", "emocontext", "-i", dev, "-o", out).returncode == 0
    result = json.loads(emoscope("evaluate", out, "-t", "emocontext", "--gold", dev, "--json").stdout)
    assert result["score"] == 1.0
    assert {"metric", "score", "per_class", "confusion", "interval", "rank"} <= set(result)
    assert emoscope("detect", "hi", "hello", "I hate you", "--model", folder, "--json").returncode == 0


@pytest.mark.slow
def test_a_neural_run_keeps_its_curve_and_takes_settings(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    small = ["vectors=random", "epochs=2", "hidden=8", "embedding=8", "min_count=1"]
    changes = [part for text in small for part in ("--set", text)]
    arguments = ["train", "emocontext-baseline", "-t", "emocontext", "-o", folder, "--data", make_corpus(tmp_path)]
    done = emoscope(*arguments, *changes, "--device", "cpu", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["settings"]["epochs"] == 2
    assert "<svg" in (folder / "curve.svg").read_text(encoding="utf-8")
    assert not list(tmp_path.glob(".run.*"))
    wrong = emoscope(*arguments, "--force", "--set", "epoch=2")
    assert wrong.returncode == 2
    assert "did you mean 'epochs'?" in wrong.stderr


def test_a_run_is_not_overwritten_by_accident(tmp_path: Path) -> None:
    data = make_corpus(tmp_path)
    arguments = ["train", "nano", "--task", "emocontext", "-o", tmp_path / "run", "--data", data]
    assert run(*arguments)[0] == 0
    assert "exists already" in run(*arguments)[2]
    assert run(*arguments, "--force")[0] == 0
    keep = tmp_path / "precious"
    keep.mkdir()
    (keep / "thesis.txt").write_text("years of work")
    assert "has no run.json" in run(*arguments[:5], keep, "--data", data, "--force")[2]
    assert (keep / "thesis.txt").exists()


def test_crossvalidation(tmp_path: Path) -> None:
    done = emoscope(
        "crossvalidate", "nano", "-t", "emocontext", "--folds", "2", "--data", make_corpus(tmp_path), "--json"
    )
    result = json.loads(done.stdout)
    first, second = result["scores"]
    assert result["mean"] == pytest.approx((first + second) / 2)
    assert min(first, second) > 0.7  # the corpus repeats its sentences, so each fold knows most of the other's


def test_demo_answers_as_a_reader_does() -> None:
    shown = emoscope("demo").stdout
    for answer, reader in re.findall(r"→  (\w+) .*a reader: (\w+)", shown):
        assert answer == reader
    assert shown.count("a reader:") == 3
    assert "a second" in shown


@pytest.mark.parametrize("model", ["default", "open", "nano"])
def test_the_demos_conversation_gets_the_labels_of_a_reader(model: str) -> None:
    text = (Path(cli.__file__).parent / "demo.json").read_text(encoding="utf-8")
    conversation = json.loads(text)["conversation"]
    own = {"joy": "happy", "sadness": "sad", "anger": "angry", "neutral": "others"} if model == "nano" else {}
    found = [answer.label for answer in load(model).timeline([turn["text"] for turn in conversation])]
    for turn, label in zip(conversation, found, strict=True):
        assert label in [own.get(name, name) for name in turn["reader"].split("/")], turn["text"]
    assert [turn["text"] for turn in conversation] == re.findall(r": (.*)", EXAMPLE)


@pytest.mark.data
def test_nano_on_the_real_development_set(data_folder: Path, tmp_path: Path) -> None:
    dev = data_folder / "emocontext" / "dev.txt"
    out = tmp_path / "out.txt"
    assert emoscope("predict", "nano", "-t", "emocontext", "-i", dev, "-o", out).returncode == 0
    result = json.loads(emoscope("evaluate", out, "-t", "emocontext", "--gold", dev, "--json").stdout)
    assert result["score"] >= 0.72
