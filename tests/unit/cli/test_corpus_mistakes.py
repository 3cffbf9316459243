"""Corpus commands given the wrong files: no input is overwritten, and every mistake gets one clear line."""

import json
from pathlib import Path

import pytest

from kits.corpus_command import run

CHAT = "31/12/2023, 21:15 - Ann: hi\n31/12/2023, 21:16 - Ben: hello you\n"
JUDGED = "task,worker,label\na,ann,sad\na,ben,sad\nb,ann,sad\nb,ben,happy\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "chat.txt").write_text(CHAT)
    (tmp_path / "judged.csv").write_text(JUDGED)
    (tmp_path / "gold.csv").write_text("task,label\na,sad\nb,sad\n")
    (tmp_path / "header.csv").write_text("id,text\n")
    (tmp_path / "seeds.csv").write_text("turn1,label\nso sad,sad\nso very sad,sad\nwhat time is it,others\n")
    rows = [{"id": "a", "turns": ["hi there"]}, {"id": "b", "turns": ["hi there"]}, {"id": "c", "turns": ["bye"]}]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "kept"),
    [
        ("collect chat.txt --format whatsapp -o chat.txt", "chat.txt"),
        ("aggregate judged.csv -o judged.csv", "judged.csv"),
        ("aggregate judged.csv --gold gold.csv -o gold.csv", "gold.csv"),
        ("aggregate judged.csv --discard-others rows.jsonl -o rows.jsonl", "rows.jsonl"),
        ("human-study judged.csv -g gold.csv -o judged.csv", "judged.csv"),
        ("human-study judged.csv -g gold.csv -o gold.csv", "gold.csv"),
    ],
)
def test_no_command_overwrites_its_input(files: Path, command: str, kept: str) -> None:
    before = (files / kept).read_text()
    code, _, error = run("corpus", *command.split())
    assert code == 2
    assert error == f"{kept}: is the input itself; write to another file"
    assert (files / kept).read_text() == before


def test_agreement_on_gold_questions_alone_is_a_one_line_error(files: Path) -> None:
    code, _, error = run("corpus", "agreement", "judged.csv", "--gold", "gold.csv")
    assert (code, error) == (2, "gold.csv: every judged task is a gold question, so no item is left to agree on")


def test_labels_do_not_go_into_the_folder_of_judgements(files: Path) -> None:
    """They would be read as one more annotator's the next time."""
    (files / "judgements").mkdir()
    (files / "judged.csv").rename(files / "judgements" / "all.csv")
    code, _, error = run("corpus", "aggregate", "judgements", "-o", "judgements/labels.csv")
    assert code == 2
    assert "judgements/labels.csv: is in the folder of judgements 'judgements'" in error
    assert not (files / "judgements" / "labels.csv").exists()


def test_dedupe_writes_only_rows_to_standard_output(files: Path) -> None:
    code, printed, error = run("corpus", "dedupe", "rows.jsonl", "-o", "-", "--json")
    assert code == 0
    assert [json.loads(line)["id"] for line in printed.splitlines()] == ["a", "c"]
    assert "exact copy" in error


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("example chat.txt/new", "chat.txt: no such folder to write new into"),
        ("mine header.csv --seeds seeds.csv -o mined", "header.csv: has no dialogues"),
        ("seeds header.csv -o drawn", "header.csv: has no dialogues"),
        ("aggregate judged.csv -o labels.csv --discard-others mined.jsonl", "mined.jsonl: nobody has judged any of"),
        ("filter rows.jsonl -o out --offensive off --threshold 0.5", "--threshold: the offensive filter is off"),
        ("annotate-export study -o each --per-annotator each", "--per-annotator: expected .csv, .json or .jsonl"),
    ],
)
def test_mistake_is_a_one_line_error(files: Path, command: str, message: str) -> None:
    (files / "mined.jsonl").write_text('{"id": "z", "turns": ["hi"], "mined_as": "others"}\n')
    if "study" in command:
        assert run("corpus", "annotate", "rows.jsonl", "-o", "study", "--no-serve", "-a", "ann")[0] == 0
    code, _, error = run("corpus", *command.split())
    assert code == 2
    assert message in error
    assert "\n" not in error
    assert not (files / "each").exists()


@pytest.mark.parametrize("command", ["dedupe", "distant", "filter"])
def test_an_unknown_column_of_text_is_answered_with_the_option(files: Path, command: str) -> None:
    (files / "tweets.csv").write_text("id,tweet\n1,I am happy that you came\n")
    code, _, error = run("corpus", command, "tweets.csv", "-o", "out")
    assert code == 2
    assert error.startswith("tweets.csv, row 1: expected columns turn1")
    assert error.endswith("found: id, tweet; name the text's with --column")


@pytest.mark.parametrize(
    "command", ["collect chat.txt --format whatsapp", "sample rows.jsonl --size 1", "windows rows.jsonl"]
)
def test_an_output_of_unknown_format_is_not_sent_to_an_option_for_inputs(files: Path, command: str) -> None:
    code, _, error = run("corpus", *command.split(), "-o", "x.weird")
    assert code == 2
    assert error.startswith("x.weird: unknown kind of file; expected a name that ends in .csv, ")
    assert "--format" not in error
    assert not (files / "x.weird").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--judges 3", "--judges was 7, now 3"),
        ("--labels joy,sad --seed 5", "--labels was happy,sad,angry,others, now joy,sad; --seed was 1, now 5"),
        ("--other-labels", "--other-labels was off, now on"),
        ("--suggest nano", "--suggest was not given, now nano"),
        ("--training gold.csv --labels happy,sad,angry,others", "tasks, gold answers or rounds"),
    ],
)
def test_study_with_other_options_names_them(files: Path, options: str, message: str) -> None:
    study = ["corpus", "annotate", "rows.jsonl", "-o", "study", "--no-serve", "-a", "ann"]
    assert run(*study)[0] == 0
    code, _, error = run(*study, *options.split())
    assert code == 2
    shown = f"options ({message})" if message.startswith("--") else message
    assert f"study: holds a study with other {shown}, which was not changed" in error
    assert (files / "study").exists()


def test_a_refused_study_leaves_no_folder(files: Path) -> None:
    """Else the corrected command would meet a study of other rules."""
    for wrong in (["-a", "a/b"], ["-a", "ann", "--gold", "gold.csv", "--labels", "joy,fear"]):
        assert run("corpus", "annotate", "rows.jsonl", "-o", "study", "--no-serve", *wrong)[0] == 2
        assert not (files / "study").exists()


def test_a_sample_that_is_too_small_names_the_file_and_the_options(files: Path) -> None:
    (files / "iest.csv").write_text("joy\tI am [#TRIGGERWORD#] that you came\n")
    code, _, error = run("corpus", "human-sample", "iest.csv", "-o", "sample")
    assert code == 2
    assert "iest.csv: " in error
    assert "--size" in error
    assert "--groups" in error


def test_shares_are_of_the_labels_that_are_left(files: Path) -> None:
    candidates = [{"id": "a", "turns": ["x"], "mined_as": "others"}, {"id": "b", "turns": ["y"], "mined_as": "sad"}]
    (files / "mined.jsonl").write_text("".join(json.dumps(row) + "\n" for row in candidates))
    command = ["aggregate", "judged.csv", "-o", "labels.csv", "--fallback", "happy", "--discard-others", "mined.jsonl"]
    code, printed, _ = run("corpus", *command)
    assert code == 0
    assert "1 task labelled" in printed
    assert "100.0%" in printed
    assert "1 random dialogue was" in printed


def test_borderline_rows_need_ids_of_their_own(files: Path) -> None:
    rude = [{"id": "a", "turns": ["fuck this shit"]}, {"id": "a", "turns": ["fuck this fucking shit"]}]
    (files / "rude.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rude))
    code, _, error = run("corpus", "filter", "rude.jsonl", "-o", "out", "--review", "--workers", "1")
    assert code == 2
    assert "rude.jsonl, row 2: its id 'a' is that of another row to review" in error


def test_judgements_of_other_rows_are_reported(files: Path) -> None:
    rude = [{"id": "a", "turns": ["fuck this shit"]}, {"id": "b", "turns": ["hello"]}]
    (files / "rude.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rude))
    command = ["filter", "rude.jsonl", "-o", "out", "--workers", "1", "--judgements"]
    code, printed, _ = run("corpus", *command, "judged.csv")
    assert code == 2  # sad is no decision
    (files / "decided.csv").write_text("task,worker,label\nz,ann,drop\n")
    code, printed, _ = run("corpus", *command, "decided.csv")
    assert code == 0
    assert "1 judged task is no borderline row" in " ".join(printed.split())
    assert "review set aside 1" in " ".join(printed.split())


def test_the_example_makes_the_folders_above_it(files: Path) -> None:
    assert run("corpus", "example", "new/deep/example")[0] == 0
    assert (files / "new" / "deep" / "example" / "plan.toml").is_file()


def test_the_example_goes_into_the_current_folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (files / "empty").mkdir()
    monkeypatch.chdir(files / "empty")
    assert run("corpus", "example", ".")[0] == 0
    assert Path("plan.toml").is_file()
    assert run("corpus", "example", ".")[0] == 2  # it is not empty any more


@pytest.mark.parametrize(
    "command",
    [
        "windows [/a].csv -o [/b].csv",
        "sample [/a].csv -o [/b].csv --size 2",
        "dedupe [/a].csv -o [/b].csv",
        "filter [/a].csv -o [/b] --lexicon [x].txt",
        "collect chat.txt --format whatsapp -o [/b].jsonl",
        "mine [/a].csv --seeds [/a].csv -o [/b]",
        "seeds [/a].csv --labels [/x],sad -o [/b]",
        "aggregate [/a].csv -o [/b].csv",
    ],
)
def test_brackets_in_names_and_labels_are_not_markup(files: Path, command: str) -> None:
    (files / "[").mkdir()
    (files / "[x].txt").write_text("awful\n")
    texts = {"so awful and sad": "[/x]", "so lonely, crying": "sad", "what time is it": "others"}
    rows = [f'{n}{label},ann,"{n} {text}",{label}' for n in range(9) for text, label in texts.items()]
    (files / "[" / "a].csv").write_text("\n".join(["task,worker,text,label", *rows]))
    code, printed, error = run("corpus", *command.split())
    assert code == 0, error
    assert "[/" in printed + error
