"""Train the model behind the filter of offensive dialogues, and write it into the package.

    python tools/offensive_model.py --data DATA

It learns from TweetEval's training tweets; `python -m benchmarks.filters measure --only offensive` says how good it is.
"""

import argparse
import hashlib
import os
from pathlib import Path

import numpy as np

from emoscope.models.linear.offensive import SHIPPED, OffensiveModel

TWEETS = "auxiliary/tweeteval/offensive"
PRECISION = 0.7


def read_tweets(data: Path, split: str) -> tuple[list[str], np.ndarray]:
    folder = data / TWEETS
    texts = (folder / f"{split}_text.txt").read_text(encoding="utf-8").splitlines()
    labels = np.array([int(label) for label in (folder / f"{split}_labels.txt").read_text().split()], bool)
    return texts, labels


def macro_f1(gold: np.ndarray, said: np.ndarray) -> float:
    from sklearn.metrics import f1_score

    return float(f1_score(gold, said, average="macro"))


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
        "command": "python tools/offensive_model.py --data DATA",
    }
    SHIPPED.mkdir(parents=True, exist_ok=True)
    model.save(SHIPPED)
    size = sum(file.stat().st_size for file in SHIPPED.iterdir())
    best = model.about["best_macro_f1_at"]
    print(f"{len(texts):,} tweets, threshold {model.threshold}, {size:,} bytes")
    print(f"held-out macro-F1 {found.max():.4f} at {best}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    train(parser.parse_args().data)


if __name__ == "__main__":
    main()
