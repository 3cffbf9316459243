"""The filter of offensive dialogues: its training, and its error rates on TweetEval's test tweets."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.metrics import confusion_matrix
from emoscope.core.significance import bootstrap_interval
from emoscope.models.linear.offensive import SHIPPED, OffensiveModel
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from filters_sets import TWEETS

PRECISION = 0.7
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


def train(data: Path) -> None:
    texts, labels = read_tweets(data, "train")
    model = OffensiveModel(seed=1).fit(texts, list(labels))
    seen, right = read_tweets(data, "val")
    # Judged on tweets the model had not seen: those of validation, and training tweets while held out.
    assert model.classifier.held_out is not None
    scores = np.concatenate([model.classifier.held_out[:, 1], model(seen)])
    gold = np.concatenate([labels, right])
    grid = np.arange(0.2, 0.61, 0.01)
    found = np.array([macro_f1(gold, scores >= threshold) for threshold in grid])
    precise = np.array([gold[scores >= threshold].mean() >= PRECISION for threshold in grid])
    # A third of these tweets are offensive, of chats far fewer: what is best here drops much that is harmless there.
    model.threshold = round(float(grid[precise.argmax()]), 2)
    model.about = {
        "trained_on": "TweetEval offensive (OffensEval 2019, OLID), training split; threshold chosen on held-out "
        "folds of it and the validation split",
        "tweets": len(texts),
        "threshold_is": f"the lowest at which {PRECISION:.0%} of what is found in held-out tweets is offensive",
        "best_macro_f1_at": round(float(grid[found.argmax()]), 2),
        "sha256": {
            name: hashlib.sha256((data / TWEETS / name).read_bytes()).hexdigest()
            for name in ("train_text.txt", "train_labels.txt", "val_text.txt", "val_labels.txt")
        },
        "terms": "The tweets are OLID's (Zampieri et al. 2019), for research use, as distributed with TweetEval "
        "(Barbieri et al. 2020). The weights belong to hashed n-grams.",
        "command": "python benchmarks/filters.py train --data DATA",
    }
    SHIPPED.mkdir(parents=True, exist_ok=True)
    model.save(SHIPPED)
    size = sum(file.stat().st_size for file in SHIPPED.iterdir())
    best = model.about["best_macro_f1_at"]
    print(f"{len(texts):,} tweets, threshold {model.threshold}, {size:,} bytes")
    print(f"held-out macro-F1 {found.max():.4f} at {best}")


def measure_offensive(data: Path) -> dict[str, Any]:
    model = OffensiveModel.load()
    texts, gold = read_tweets(data, "test")
    scores = model(texts)
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
    print()
    chat_drops(data, model)
    return {"set": "TweetEval offensive, test", "items": len(gold), "threshold": model.threshold, "at": rates}


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
