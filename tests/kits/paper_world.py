"""The files that the commands of docs/results/papers.md read, made up, in one folder for each paper."""

import csv
import json
import shutil
from pathlib import Path

from kits.doc_world import write_world
from kits.jsonl import write_jsonl

# What is only parsed, by a pattern, and why.
ONLY_PARSED = {
    r"emoscope (train|crossvalidate|transfer)\b": "trains",
    r"emoscope predict runs/": "needs what a training made",
    r"--encoder minilm": "needs a downloaded encoder",
    r"corpus augment .*marian": "needs downloaded translation models",
    r"emoscope challenge ": "needs a challenge with its files; tests/unit/server and tests/unit/cli cover it",
    r"emoscope serve": "runs until it is stopped",
}


def write_paper_world(folder: Path, paper: str) -> None:
    """Write the documentation's files and those of one paper, whose labels the predictions have."""
    write_world(folder)
    data = folder / "data"
    _chats(folder)
    if paper == "iest":
        _iest(folder, data / "iest")
    elif paper == "emotionx":
        _emotionx(folder, data / "emotionx")
    else:
        _emocontext(folder)


def _chats(folder: Path) -> None:
    """Logs of 2018, in which ids and times are known."""
    rows = [json.loads(line) for line in (folder / "logs.jsonl").read_text("utf-8").splitlines()]
    for number, row in enumerate(rows):
        row |= {"id": f"c{number}", "time": f"2018-{number % 12 + 1:02}-05T12:00:00Z"}
    for name in ("logs.jsonl", "chats.jsonl"):
        write_jsonl(folder / name, rows)


def _emocontext(folder: Path) -> None:
    (folder / "seeds").mkdir()
    shutil.copy(folder / "seeds.csv", folder / "seeds" / "seeds.csv")
    (folder / "mined").mkdir()
    with (folder / "judgements.csv").open(encoding="utf-8") as handle:
        judged = sorted({row["task"] for row in csv.DictReader(handle)})
    candidates = [{"id": name, "turns": ["hi"], "mined_as": ("sad", "others")[n % 2]} for n, name in enumerate(judged)]
    write_jsonl(folder / "mined" / "candidates.jsonl", candidates)
    (folder / "rules.md").write_text("Read twice.\n", encoding="utf-8")
    (folder / "words.txt").write_text("teapot\n", encoding="utf-8")
    _csv(folder / "first.csv", [("task", "label", "why"), ("d6", "happy", "she passed")])
    _csv(folder / "exam.csv", [("task", "label"), ("d7", "angry"), ("d8", "sad")])


def _iest(folder: Path, data: Path) -> None:
    gold = [line.split("\t")[0] for line in (data / "trial.csv").read_text("utf-8").splitlines()]
    _predictions(folder, gold, "joy")
    _csv(folder / "crowd.csv", [("task", "worker", "label"), *((n, "ann", label) for n, label in enumerate(gold))])
    tweets = [line.split("\t") for line in (folder / "trial.csv").read_text("utf-8").splitlines()]
    _csv(folder / "gold.csv", [("task", "label"), *((n, label) for n, (label, _) in enumerate(tweets[:6]))])
    (folder / "study").mkdir()
    _csv(folder / "study" / "gold.csv", [("task", "label", "text"), *((n, *tweet) for n, tweet in enumerate(tweets))])
    people = [(n, worker, label) for n, (label, _) in enumerate(tweets) for worker in ("ann", "ben")]
    _csv(folder / "judgements.csv", [("task", "worker", "label"), *people])


def _emotionx(folder: Path, data: Path) -> None:
    friends = json.loads((data / "friends.json").read_text("utf-8"))
    evaluated = friends[: len(json.loads((data / "friends_eval.json").read_text("utf-8")))]
    (folder / "friends_gold.json").write_text(json.dumps(evaluated), encoding="utf-8")
    (folder / "submission.json").write_text(json.dumps([{"name": "A", "email": "a@b.c"}, evaluated]), encoding="utf-8")
    shutil.copy(data / "emotionpush.json", folder / "emotionpush.json")
    _predictions(folder, [said["emotion"] for dialogue in evaluated for said in dialogue], "neutral")
    _csv(folder / "people.csv", [("name", "country", "approval_rate", "tasks"), ("ann", "IE", "0.98", "2000")])
    votes = [("0:0", f"w{n}", label) for n, label in enumerate(["neutral"] * 2 + ["surprise"] * 3)]
    _csv(folder / "judgements.csv", [("task", "worker", "label"), *votes])


def _predictions(folder: Path, gold: list[str], otherwise: str) -> None:
    for number, name in enumerate(("a.txt", "b.txt", "out.txt")):
        answers = [label if place % (number + 3) else otherwise for place, label in enumerate(gold)]
        (folder / name).write_text("".join(f"{label}\n" for label in answers), encoding="utf-8")


def _csv(path: Path, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows(rows)
