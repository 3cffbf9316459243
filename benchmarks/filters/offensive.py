"""Error rates of the filter of offensive dialogues, on TweetEval's test tweets and on chats."""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.pages import printed_section
from benchmarks.filters.sets import TWEETS
from emoscope.core.metrics import confusion_matrix
from emoscope.core.significance import bootstrap_interval
from emoscope.models.linear.offensive import OffensiveModel
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
LABELS = ("not-offensive", "offensive")


def read_tweets(data: Path, split: str) -> tuple[list[str], np.ndarray]:
    folder = data / TWEETS
    texts = (folder / f"{split}_text.txt").read_text(encoding="utf-8").splitlines()
    labels = np.array([int(label) for label in (folder / f"{split}_labels.txt").read_text().split()], bool)
    return texts, labels


def macro_f1(gold: np.ndarray, said: np.ndarray) -> float:
    scores = [
        2 * float(((gold == kind) & (said == kind)).sum()) / max(int((gold == kind).sum() + (said == kind).sum()), 1)
        for kind in (False, True)
    ]
    return sum(scores) / 2


def measure_offensive(data: Path, write: bool) -> dict[str, Any]:
    model = OffensiveModel.load()
    texts, gold = read_tweets(data, "test")
    with printed_section("filters", "offensive", write=write):
        rates = tweet_rates(model, model(texts), gold)
    print()
    with printed_section("filters", "offensive-chats", write=write):
        chat_drops(data, model)
    return {"set": "TweetEval offensive, test", "items": len(gold), "threshold": model.threshold, "at": rates}


def tweet_rates(model: OffensiveModel, scores: np.ndarray, gold: np.ndarray) -> dict[float, dict[str, float]]:
    print("| threshold | macro-F1 | 95 % interval | precision | recall | dropped |\n|---:|---:|---:|---:|---:|---:|")
    rates = {}
    best = model.about["best_macro_f1_at"]
    for threshold in sorted({*THRESHOLDS, model.threshold, best}):
        said = scores >= threshold
        matrix = confusion_matrix([LABELS[int(one)] for one in gold], [LABELS[int(one)] for one in said], LABELS)
        interval = bootstrap_interval(matrix, _macro_f1_of, seed=0)
        hits = int((said & gold).sum())
        rates[threshold] = {
            "macro_f1": round(macro_f1(gold, said), 4),
            "precision": round(hits / max(int(said.sum()), 1), 4),
            "recall": round(hits / int(gold.sum()), 4),
            "dropped": round(float(said.mean()), 4),
        }
        row = rates[threshold]
        mark = {model.threshold: " (default)", best: " (best on held-out tweets)"}.get(threshold, "")
        print(
            f"| {threshold}{mark} | {row['macro_f1']:.3f} | {interval.low:.3f} to {interval.high:.3f} | "
            f"{row['precision']:.3f} | {row['recall']:.3f} | {row['dropped']:.1%} |"
        )
    return rates


def _macro_f1_of(stack: Any) -> Any:
    diagonal = np.diagonal(stack, axis1=-2, axis2=-1)
    return (2 * diagonal / np.maximum(stack.sum(-1) + stack.sum(-2), 1)).mean(-1)


def chat_drops(data: Path, model: OffensiveModel) -> None:
    """How much of real chats goes: tweets are half about politics, dialogues are not."""
    print("| EmoContext train | " + " | ".join(str(one) for one in THRESHOLDS) + " |\n|---" + "|---:" * 7 + "|")
    examples = read_split(get_task("emocontext"), "train", data)
    worst = np.array([model(example.dialogue.texts).max() for example in examples[:10_000]])
    labels = np.array([str(example.label) for example in examples[:10_000]])
    for label in ("others", "happy", "sad", "angry"):
        shares = [float((worst[labels == label] >= one).mean()) for one in THRESHOLDS]
        print(f"| {label} dropped | " + " | ".join(f"{share:.1%}" for share in shares) + " |")
