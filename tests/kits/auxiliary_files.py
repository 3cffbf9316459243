"""A folder of resources small enough for tests, in the layout of the real one."""

from pathlib import Path

_SENTIMENTS = (
    ("positive", "i love this sunny day"),
    ("negative", "i hate this rainy day"),
    ("neutral", "this is a day"),
)
_EMOTIONS = ((3, "what a happy fun day"), (5, "i cry alone at home"), (0, "stop it or i get angry"))


def make_resources(folder: Path, repeats: int = 8) -> Path:
    """Write SemEval-2017 4A, TweetEval and GoEmotions files of a few lines each, and return the folder."""
    sentiment = folder / "auxiliary/semeval2017-4a/train"
    sentiment.mkdir(parents=True)
    rows = [f"{n}\t{label}\t{text}\\u002c no {n}" for n in range(repeats) for label, text in _SENTIMENTS]
    (sentiment / "twitter-2013train-A.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    ekman = folder / "auxiliary/goemotions/ekman"
    ekman.mkdir(parents=True)
    rows = [f"{text} {n}\t{number}\tid{n}" for n in range(repeats) for number, text in _EMOTIONS]
    (ekman / "train.tsv").write_text("\n".join([*rows, "two at once\t0,3\tidx"]) + "\n", encoding="utf-8")
    for name, labels in (("emotion", 4), ("emoji", 20)):
        tweets = folder / "auxiliary/tweeteval" / name
        tweets.mkdir(parents=True)
        numbers = [number for number in range(labels) for _ in range(2)]
        texts = [f"{name} tweet of kind {number} and {place}" for place, number in enumerate(numbers)]
        (tweets / "train_text.txt").write_text("\n".join(texts) + "\n", encoding="utf-8")
        (tweets / "train_labels.txt").write_text("\n".join(map(str, numbers)) + "\n", encoding="utf-8")
    return folder
