"""The files that the documentation's examples use, all made up, in one folder."""

import csv
import json
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from emoscope.corpus.pipeline.example import EXAMPLE
from tools.golden_data import write_data

TURNS = [
    ("how was it?", "tell me", "I passed!!! 😂"),
    ("hi", "yes?", "I hate you, shut up"),
    ("hey", "so?", "so sad and lonely"),
]
LABELS = ("happy", "angry", "sad")
IEST = ("anger", "disgust", "fear", "joy", "sad", "surprise")


def write_world(folder: Path) -> None:
    """Write every file; `data` holds those of the tasks."""
    data = write_data(folder / "data")
    rows = [(*turns, label) for turns, label in zip(TURNS, LABELS, strict=True)] * 4
    labelled = ("turn1", "turn2", "turn3", "label")
    for name in ("chats.csv", "monday.csv", "more.csv"):
        _table(folder / name, labelled[:3], [row[:3] for row in rows])
    for name in ("train.csv", "test.csv"):
        _table(folder / name, labelled, rows)
    _table(folder / "mails.csv", ("body",), [(row[2],) for row in rows])
    for name in ("tasks.csv", "candidates.csv"):
        asked = [(f"gold-{n}" if n < 6 else f"d{n}", *row[:3]) for n, row in enumerate(rows)]
        _table(folder / name, ("task", *labelled[:3]), asked)
    shutil.copy(EXAMPLE / "gold.csv", folder / "gold.csv")
    _lines(folder / "chat.jsonl", [{"turns": list(row[:3])} for row in rows])
    (folder / "logs").mkdir()
    _parquet(folder / "logs" / "2024-01.parquet", rows)
    for name in ("dev.txt", "test.txt", "answers.txt"):
        shutil.copy(data / "emocontext" / "dev.txt", folder / name)
    shutil.copy(data / "emocontext" / "train.txt", folder / "train.txt")
    unlabelled = ["\t".join(line.split("\t")[:4]) for line in (folder / "dev.txt").read_text("utf-8").splitlines()]
    for name in ("test1.txt", "testwithoutlabels.txt"):
        (folder / name).write_text("\n".join(unlabelled) + "\n", encoding="utf-8")
    for name in ("friends.json", "friends_eval.json"):
        shutil.copy(data / "emotionx" / name, folder / name)
    cues = [(emotion, cue) for emotion in IEST for cue in ("because", "that", "when")] * 50
    trial = [f"{emotion}\tI am [#TRIGGERWORD#] {cue} of number {n}\n" for n, (emotion, cue) in enumerate(cues)]
    (folder / "trial.csv").write_text("".join(trial), encoding="utf-8")
    said = [{"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["happy"]}}]
    exported = [{"data": {"task": "d1", "text": "hi"}, "annotations": [{"completed_by": "a@b.c", "result": said}]}]
    (folder / "export.json").write_text(json.dumps(exported), encoding="utf-8")
    gold = [line.split("\t")[-1] for line in (data / "emocontext" / "dev.txt").read_text("utf-8").splitlines()[1:]]
    for number, name in enumerate(("a.txt", "b.txt", "c.txt", "out.txt")):
        answers = [label if place % (number + 3) else "others" for place, label in enumerate(gold)]
        (folder / name).write_text("".join(f"{label}\n" for label in answers), encoding="utf-8")
    _corpus(folder)


def _corpus(folder: Path) -> None:
    """What the steps of a corpus read: the example that comes with the package, under other names, too."""
    shutil.copytree(EXAMPLE, folder / "example")
    plan = (EXAMPLE / "plan.toml").read_text(encoding="utf-8").replace('gold = "', 'gold = "example/')
    for name in ("logs", "judgements", "seeds.csv"):
        plan = plan.replace(f'"{name}', f'"example/{name}')
    (folder / "plan.toml").write_text(plan, encoding="utf-8")
    shutil.copy(EXAMPLE / "logs" / "support.jsonl", folder / "logs.jsonl")
    chat = (EXAMPLE / "logs" / "whatsapp.txt").read_text(encoding="utf-8")
    (folder / "chat.txt").write_text(chat.replace("Rosa:", "customer:"), encoding="utf-8")
    shutil.copy(EXAMPLE / "seeds.csv", folder / "seeds.csv")
    shutil.copytree(EXAMPLE / "judgements", folder / "people")
    shutil.copy(EXAMPLE / "judgements" / "ann.csv", folder / "judgements.csv")
    with (folder / "judgements.csv").open("a", encoding="utf-8") as handle:
        handle.writelines(
            (EXAMPLE / "judgements" / "ben.csv").read_text(encoding="utf-8").splitlines(keepends=True)[1:]
        )
    counter = list(csv.reader((EXAMPLE / "logs" / "counter.csv").open(encoding="utf-8")))
    for name in ("pool.csv", "windows.csv"):
        _table(folder / name, counter[0], counter[1:])
    for name in ("pool.jsonl", "windows.jsonl"):
        _lines(folder / name, [{"turns": row} for row in counter[1:]])
    tweets = [f"I am so {word} because of number {n}" for n in range(30) for word in ("happy", "sad", "angry")]
    _table(folder / "tweets.csv", ("tweet",), [(tweet,) for tweet in tweets])
    _lines(folder / "tweets.jsonl", [{"text": tweet} for tweet in tweets])


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle).writerows([header, *rows])


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _parquet(path: Path, rows: Sequence[Sequence[str]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": list(range(len(rows))), "turns": [list(row[:3]) for row in rows]}), path)
