"""All data that emoscope's own models learn from, small enough for tests, in the layout of the real folder."""

import gzip
import json
from pathlib import Path

from kits.auxiliary_files import make_resources

WORDS = {
    "others": "what time is it",
    "happy": "we won so happy today",
    "sad": "i cry alone at home",
    "angry": "i hate you stop it",
    "neutral": "this is a day",
    "joy": "great fun we love it",
    "sadness": "i lost my dog",
    "anger": "shut up i am mad",
}
IEST = ("anger", "disgust", "fear", "joy", "sad", "surprise")
SHARED_LINE = "We were on a break, you know"  # said in MELD and in EmotionX


def make_data(folder: Path, repeats: int = 6) -> Path:
    """Write every file and return the folder."""
    make_resources(folder)
    _auxiliary(folder / "auxiliary")
    _emocontext(folder / "emocontext", repeats)
    _emotionx(folder / "emotionx", repeats)
    _iest(folder / "iest", repeats)
    return folder


def _auxiliary(folder: Path) -> None:
    for name in ("offensive", "irony"):
        tweets = folder / "tweeteval" / name
        tweets.mkdir(parents=True)
        (tweets / "train_text.txt").write_text("you are so bad\nyou are so good\n", encoding="utf-8")
        (tweets / "train_labels.txt").write_text("1\n0\n", encoding="utf-8")
    (folder / "tweeteval/irony/test_text.txt").write_text(
        "I am so happy that it works\nhe is furious because of you\n", encoding="utf-8"
    )
    meld = folder / "meld"
    meld.mkdir()
    head = "Sr No.,Utterance,Speaker,Emotion,Sentiment,Dialogue_ID,Utterance_ID"
    rows = [f'1,"{SHARED_LINE}",Ross,anger,negative,0,0', "2,Oh my god what is it,Monica,surprise,positive,0,1"]
    (meld / "train_sent_emo.csv").write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    isear = folder / "isear"
    isear.mkdir()
    reports = ["ID|Field1|SIT", "1|joy|I won a prize.", "2|guilt|[ No response.]", "3|fear|A dog ran at me.|x"]
    (isear / "isear.csv").write_text("\n".join(reports) + "\n", encoding="utf-8")
    scripts = folder / "friends-scripts"
    scripts.mkdir()
    with gzip.open(scripts / "friends.txt.gz", "wt", encoding="utf-8") as handle:
        handle.write("### one\n[Scene: a bar]\nRoss: Hi there you all.\nJoey: What is it now?\n")


def _emocontext(folder: Path, repeats: int) -> None:
    folder.mkdir()
    rows = [
        f"{number}\thi {number}\thello you\t{WORDS[label]} {number}\t{label}"
        for number, label in enumerate(["others", "happy", "sad", "angry"] * repeats)
    ]
    head = "id\tturn1\tturn2\tturn3\tlabel"
    for name in ("train.txt", "dev.txt"):
        (folder / name).write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    plain = [head.rsplit("\t", 1)[0], *(row.rsplit("\t", 1)[0] for row in rows)]
    (folder / "testwithoutlabels.txt").write_text("\n".join(plain) + "\n", encoding="utf-8")


def _emotionx(folder: Path, repeats: int) -> None:
    folder.mkdir()
    votes = {"neutral": "5000000", "joy": "0410000", "sadness": "1040000", "anger": "1000400"}
    for name, extra in (("friends", SHARED_LINE), ("emotionpush", "nothing of note here")):
        dialogues = []
        for number in range(repeats):
            lines = [(label, f"{WORDS[label]} {number}") for label in votes] + [("neutral", f"{extra}{'!' * number}")]
            dialogues.append(
                [
                    {"speaker": "Ross", "utterance": text, "emotion": label, "annotation": votes[label]}
                    for label, text in lines
                ]
            )
        (folder / f"{name}.json").write_text(json.dumps(dialogues), encoding="utf-8")


def _iest(folder: Path, repeats: int) -> None:
    folder.mkdir()
    rows = [f"{label}\tI am [#TRIGGERWORD#] because {label} {number}" for number in range(repeats) for label in IEST]
    (folder / "labelled.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / "trial.csv").write_text("\n".join(row + " again" for row in rows) + "\n", encoding="utf-8")
