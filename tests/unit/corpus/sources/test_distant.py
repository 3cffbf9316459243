"""Labels from emotion words: every rule of IEST's, and the two faults of its data that cannot come back."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.emotion_words import EMOTION_OF, TRIGGERS
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.text import TRIGGER
from emoscope.corpus.sources.distant import (
    MAX_CHARACTERS,
    DistantCounts,
    Duplicates,
    Rejection,
    Tweet,
    label_text,
    label_texts,
    mask_names,
    split_rows,
    write_distant,
)
from emoscope.tasks import get_task
from kits.corpus_command import kill_once_writing, stdout_of

WORDS = sorted(EMOTION_OF)


@pytest.mark.parametrize(
    ("text", "masked", "emotion"),
    [
        ("I am angry that the bus left", "I am [#TRIGGERWORD#] that the bus left", "anger"),
        ("DISGUSTING because of the smell", "[#TRIGGERWORD#] because of the smell", "disgust"),
        ("so Scared when it thunders", "so [#TRIGGERWORD#] when it thunders", "fear"),
        ("#happy that's all", "#[#TRIGGERWORD#] that's all", "joy"),
        ("(sad that’s how it is)", "([#TRIGGERWORD#] that’s how it is)", "sad"),
        ("stunned  because...", "[#TRIGGERWORD#]  because...", "surprise"),
        ("not happy that it rains", "not [#TRIGGERWORD#] that it rains", "joy"),
        # "sadly" and "happiness" are not in Table 1, "un" inside another word is no negation.
        ("sadly happiness ends; I'm afraid that is so", "sadly happiness ends; I'm [#TRIGGERWORD#] that is so", "fear"),
        ("in the sun happy that it shines", "in the sun [#TRIGGERWORD#] that it shines", "joy"),
        # What is masked anyway holds no emotion word.
        (
            "@happy_ann http://sad.org/angry afraid that I'm late",
            "@USERNAME http://url.removed [#TRIGGERWORD#] that I'm late",
            "fear",
        ),
        ("sad when\nit\r\nrains\t!", "[#TRIGGERWORD#] when[NEWLINE]it[NEWLINE]rains !", "sad"),
    ],
)
def test_a_text_with_one_emotion_word_and_its_cause(text: str, masked: str, emotion: str) -> None:
    assert label_text(text) == Tweet(masked, emotion)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" \n ", Rejection.EMPTY),
        ("sad that " + "x" * MAX_CHARACTERS, Rejection.TOO_LONG),
        ("the [#TRIGGERWORD#] is sad that it is shown", Rejection.MASKED_ALREADY),
        ("it rains because it is autumn", Rejection.NO_EMOTION_WORD),
        ("superhappy that it works", Rejection.NO_EMOTION_WORD),
        ("I'm happyyy that it works", Rejection.NO_EMOTION_WORD),
        ("sad that you are happy", Rejection.SEVERAL),
        ("sad, sad that it ends", Rejection.SEVERAL),
        ("happy birthday", Rejection.NO_CAUSE),
        ("happy, because it is May", Rejection.NO_CAUSE),
        ("happy whenever it is May", Rejection.NO_CAUSE),
        ("happy thats so", Rejection.NO_CAUSE),
        ("that I am happy", Rejection.NO_CAUSE),
        ("unhappy that it rains", Rejection.NEGATED),
        ("UNAFRAID when it thunders", Rejection.NEGATED),
        ("un-happy because it rains", Rejection.NEGATED),
        ("un happy because it rains", Rejection.NEGATED),
        ("sad that she is unhappy", Rejection.NEGATED),
    ],
)
def test_what_is_dropped_and_why(text: str, reason: Rejection) -> None:
    assert label_text(text) is reason


@pytest.mark.parametrize("word", WORDS)
def test_the_first_fault_un_before_an_emotion_word_cannot_happen(word: str) -> None:
    assert label_text(f"I am {word} that it is so") == Tweet(f"I am {TRIGGER} that it is so", EMOTION_OF[word])
    for negated in (f"un{word}", f"Un{word}", f"UN{word.upper()}", f"un-{word}", f"un {word}"):
        assert label_text(f"I am {negated} that it is so") is Rejection.NEGATED


PIECES = st.sampled_from(
    [*WORDS, "un", " ", "  ", "that", "because", "when", "@", "b", "http://", "x.org/", "www.", "\n", "\r", "\t", "😂",
     "[#TRIGGERWORD#]", "[#TARGETWORD#]", "[NEWLINE]", "\x00", "\u2028", "\ud800", "#", "-", "'s", "_"]
)  # fmt: skip
MIXES = st.one_of(st.lists(PIECES, max_size=14).map("".join), st.text(max_size=60))


@given(text=MIXES)
def test_every_example_has_its_trigger_once_and_no_un_before_it(text: str) -> None:
    tweet = label_text(text)
    if isinstance(tweet, Rejection):
        return
    assert tweet.text.count(TRIGGER) == 1
    assert not tweet.text.lower().split(TRIGGER.lower())[0].endswith("un")
    left = tweet.text.replace(TRIGGER, " ").lower().replace("_", "x")
    assert not set(re.findall(r"\w+", left)) & set(WORDS)
    assert not set(tweet.text) & set("\t\n\r\x00")
    tweet.text.encode()


@given(text=MIXES)
def test_masking_twice_is_masking_once(text: str) -> None:
    once = mask_names(text)
    assert mask_names(once) == once


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("@Bob_9: hi", "@USERNAME: hi"),
        (".@bob hey@ann", ".@USERNAME hey@USERNAME"),
        ("see HTTPS://a.b/c?d=e&f. now", "see http://url.removed now"),
        ("www.a.com t.co/Xy pic.twitter.com/abc", "http://url.removed http://url.removed http://url.removed"),
        ("ends http://a.b\nnext", "ends http://url.removed[NEWLINE]next"),
        ("@USERNAME http://url.removed [NEWLINE]", "@USERNAME http://url.removed [NEWLINE]"),
        ("(bit.ly/3abc) pops up", "(http://url.removed) pops up"),
        (
            "(see http://a.b/c), or (http://a.b)http://c.d",
            "(see http://url.removed), or (http://url.removed)http://url.removed",
        ),
        ("http://a.b/c_(d) and", "http://url.removed and"),
        ("at @ noon, www. is no link", "at @ noon, www. is no link"),
    ],
)
def test_users_links_and_line_ends(text: str, masked: str) -> None:
    assert mask_names(text) == masked


DUPLICATED = [
    "@a sad that it ends",
    "@a sad that it ends",
    "@b sad that it ends",
    "@b happy that it ends",
    "@b Sad that it ends! http://t.co/x",
    "sad that you are happy",
    "hello",
]


def test_names_are_masked_and_exact_duplicates_and_several_emotion_words_dropped() -> None:
    counts = DistantCounts()
    assert list(label_texts(DUPLICATED, counts, duplicates=Duplicates.EXACT)) == [
        Tweet("@USERNAME [#TRIGGERWORD#] that it ends", "sad"),
        Tweet("@USERNAME [#TRIGGERWORD#] that it ends", "sad"),
        Tweet("@USERNAME [#TRIGGERWORD#] that it ends", "joy"),
        Tweet("@USERNAME [#TRIGGERWORD#] that it ends! http://url.removed", "sad"),
    ]
    dropped = Counter({Rejection.DUPLICATE: 1, Rejection.SEVERAL: 1, Rejection.NO_EMOTION_WORD: 1})
    assert (counts.read, counts.dropped) == (7, dropped)


def test_duplicates_that_are_the_same_once_masked() -> None:
    counts = DistantCounts()
    found = [tweet.text for tweet in label_texts(DUPLICATED, counts)]
    assert found == [
        "@USERNAME [#TRIGGERWORD#] that it ends",
        "@USERNAME [#TRIGGERWORD#] that it ends! http://url.removed",
    ]
    assert counts.dropped[Rejection.DUPLICATE] == 3


@given(sizes=st.lists(st.integers(0, 300), min_size=1, max_size=6), seed=st.integers(0, 2**32), balance=st.booleans())
def test_splits_are_stratified(sizes: list[int], seed: int, balance: bool) -> None:
    labels = np.random.default_rng(0).permutation(np.repeat(np.arange(len(sizes)), sizes))
    splits = split_rows(labels, seed=seed, balance=balance)
    assert (splits == split_rows(labels, seed=seed, balance=balance)).all()
    rarest = min((size for size in sizes if size), default=0)
    for label, size in enumerate(sizes):
        used = min(size, rarest) if balance else size
        found = splits[labels == label]
        assert (found >= 0).sum() == used
        for split, share in enumerate((0.80, 0.05, 0.15)):
            assert abs((found == split).sum() - share * used) <= 1


def tweets(number: int) -> Iterator[str]:
    for place in range(number):
        emotion = WORDS[place % len(WORDS)]
        yield f"@user{place} I am {emotion} that {place} came\nhttp://t.co/{place}"


def test_the_files_are_read_by_the_task(tmp_path: Path) -> None:
    counts = write_distant([*tweets(2000), "unhappy that", "hello"], tmp_path / "out", seed=7)
    task = get_task("iest")
    found = {split: list(task.read(tmp_path / "out" / f"{split}.csv")) for split in ("train", "trial", "test")}
    assert sum(map(len, found.values())) == 2000 == counts.kept
    for split, examples in found.items():
        assert Counter(example.label for example in examples) == counts.splits[split]
        assert abs(len(examples) - {"train": 1600, "trial": 100, "test": 300}[split]) <= len(TRIGGERS)
    texts = [example.dialogue.texts[0] for examples in found.values() for example in examples]
    assert len(set(texts)) == 2000
    assert json.loads((tmp_path / "out" / "counts.json").read_text())["dropped"]["no emotion word"] == 1


def test_the_seed_decides(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_distant(tweets(200), tmp_path / name, seed=seed)
    one, same, other = ((tmp_path / name / "test.csv").read_bytes() for name in "abc")
    assert one == same != other


def test_balanced(tmp_path: Path) -> None:
    texts = [*(f"sad that {place}" for place in range(100)), *(f"happy that {place} x" for place in range(40))]
    counts = write_distant(texts, tmp_path / "out", seed=1, balance=True)
    assert {split: dict(found) for split, found in counts.splits.items()} == {
        "train": {"sad": 32, "joy": 32},
        "trial": {"sad": 2, "joy": 2},
        "test": {"sad": 6, "joy": 6},
    }
    assert counts.dropped[Rejection.SURPLUS] == 60


def test_an_error_half_way_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[str]:
        yield from tweets(100)
        raise InputError("in.csv", "broken", row=101)

    with pytest.raises(InputError):
        write_distant(broken(), tmp_path / "out", seed=1)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_with_files_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(EmoscopeError, match="expected a new or an empty folder"):
        write_distant(tweets(3), tmp_path, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.e2e
def test_a_killed_run_leaves_no_half_files(tmp_path: Path) -> None:
    output = tmp_path / "out"
    lines = "".join(text.replace("\n", " ") + "\n" for text in tweets(20_000))
    kill_once_writing(tmp_path, ".out.*.part/all", "corpus", "distant", "-", "-o", output, stdin=lines)
    assert not output.exists()
    counts = write_distant(tweets(100), output, seed=1)
    assert counts.kept == 100
    assert sorted(path.name for path in output.iterdir()) == ["counts.json", "test.csv", "train.csv", "trial.csv"]


TEXTS = ["@ann I'm happy that, well, it works", "so sad when it rains", "nothing here"]


def write_inputs(folder: Path) -> None:
    pl.DataFrame({"id": [1, 2, 3], "tweet": TEXTS}).write_csv(folder / "a.csv")
    pl.DataFrame({"id": [1, 2, 3], "tweet": TEXTS}).write_csv(folder / "a.tsv", separator="\t", quote_style="never")
    pl.DataFrame({"id": [1, 2, 3], "tweet": TEXTS}).write_ndjson(folder / "a.jsonl")
    pl.DataFrame({"id": [1, 2, 3], "tweet": TEXTS}).write_parquet(folder / "a.parquet")
    (folder / "a.txt").write_text("\n".join(TEXTS) + "\n")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet", "txt", "pipe"])
def test_the_command_reads_every_kind_of_table(tmp_path: Path, suffix: str) -> None:
    write_inputs(tmp_path)
    pipe = suffix == "pipe"
    source = "-" if pipe else str(tmp_path / f"a.{suffix}")
    column = [] if suffix in ("txt", "pipe") else ["--column", "tweet"]
    arguments = ["corpus", "distant", source, *column, "-o", str(tmp_path / "out"), "--json"]
    answer = json.loads(stdout_of(*arguments, stdin="\n".join(TEXTS) if pipe else None))
    assert (answer["read"], answer["kept"], answer["dropped"]["no emotion word"]) == (3, 2, 1)
    assert (tmp_path / "out" / "train.csv").read_text() == (
        "joy\t@USERNAME I'm [#TRIGGERWORD#] that, well, it works\nsad\tso [#TRIGGERWORD#] when it rains\n"
    )


def test_the_command_drops_exact_or_masked_duplicates(tmp_path: Path) -> None:
    lines = tmp_path / "a.txt"
    lines.write_text("\n".join(DUPLICATED) + "\n")
    for options, kept in (((), 2), (("--duplicates", "exact"), 4)):
        answer = json.loads(stdout_of("corpus", "distant", lines, "-o", tmp_path / str(kept), *options, "--json"))
        assert answer["kept"] == kept
    assert json.loads((tmp_path / "2" / "counts.json").read_text())["duplicates"] == "masked"


def test_the_command_shows_tables_and_names_a_missing_column(tmp_path: Path) -> None:
    write_inputs(tmp_path)
    arguments = ["corpus", "distant", str(tmp_path / "a.csv"), "-o"]
    shown = stdout_of(*arguments, tmp_path / "out", "--column", "tweet")
    assert "2 of 3 texts" in shown
    assert "no emotion word" in shown
    with pytest.raises(InputError, match="row 1: has no column 'texts'; it has: id, tweet"):
        stdout_of(*arguments, tmp_path / "b", "--column", "texts")
    assert not (tmp_path / "b").exists()


@pytest.mark.data
def test_masked_data_survive_a_round_trip(data_folder: Path) -> None:
    """Real tweets with their trigger put back: all but the faulty are found again, masked in the same way."""
    same = negated = total = 0
    for example in get_task("iest").read(data_folder / "iest" / "trial.csv"):
        assert example.label is not None
        text = example.dialogue.texts[0]
        tweet = label_text(text.replace(TRIGGER, TRIGGERS[example.label][0]))
        total += 1
        if isinstance(tweet, Tweet):
            assert tweet.emotion == example.label
            same += tweet.text == text
        negated += tweet is Rejection.NEGATED
        if "un" + TRIGGER in text:
            assert isinstance(tweet, Rejection)
    assert negated >= 374
    assert same / total > 0.9


def test_email_addresses_and_bare_links_are_masked_whole() -> None:
    masked = mask_names("write bob.b@mail.example.com, see example.org and blog.example.net/a?b=1 ok.so fine")
    assert masked == "write @USERNAME, see http://url.removed and http://url.removed ok.so fine"


def test_counts_before_balancing(tmp_path: Path) -> None:
    texts = [f"so sad that {number}" for number in range(6)] + [f"so happy when {number}" for number in range(3)]
    counts = write_distant(texts, tmp_path / "out", seed=1, balance=True)
    written = json.loads((tmp_path / "out" / "counts.json").read_text())
    assert {name: number for name, number in written["before_balancing"].items() if number} == {"sad": 6, "joy": 3}
    assert counts.kept == 6


def test_the_initial_distribution_counts_every_text_that_the_query_retrieves(tmp_path: Path) -> None:
    texts = [
        *["so sad that it ends"] * 2,  # a duplicate was retrieved too
        "sad that you are happy",  # several emotion words, one before a cue
        "sad when it rains, happy when not",  # retrieved by two queries
        "afraid that she is unhappy",
        *(f"so happy when {number}" for number in range(2)),
        "happy birthday",
        "unhappy that it ends",
        "nothing",
    ]
    counts = write_distant(texts, tmp_path / "out", seed=1, balance=True)
    written = json.loads((tmp_path / "out" / "counts.json").read_text())
    assert written["retrieved"] == {"anger": 0, "disgust": 0, "fear": 1, "joy": 3, "sad": 4, "surprise": 0}
    shares = {"anger": 0, "disgust": 0, "fear": 0.125, "joy": 0.375, "sad": 0.5, "surprise": 0}
    assert written["retrieved_shares"] == counts.retrieved_shares == shares
    assert (written["before_balancing"]["sad"], written["before_balancing"]["joy"], counts.kept) == (1, 2, 2)
    joined = write_distant(texts, tmp_path / "joined", seed=1, joined=True)
    assert joined.retrieved == Counter(sad=4, joy=4, fear=1)
    assert write_distant([], tmp_path / "empty", seed=1).retrieved_shares["sad"] == 0
    (tmp_path / "a.txt").write_text("\n".join(texts) + "\n")
    shown = stdout_of("corpus", "distant", tmp_path / "a.txt", "-o", tmp_path / "shown")
    assert "38%" in shown
    assert "50%" in shown


def test_words_without_a_blank_before_them() -> None:
    assert label_text("#sohappy that it works") is Rejection.NO_EMOTION_WORD
    joined = label_text("#sohappy that it works", joined=True)
    assert isinstance(joined, Tweet)
    assert joined.text == "#so[#TRIGGERWORD#] that it works"


@pytest.mark.parametrize("word", WORDS)
def test_joined_words_after_un_have_the_words_own_emotion_as_in_the_papers_tweets(word: str) -> None:
    tweet = label_text(f"maybe im so un{word} because it rains", joined=True)
    assert tweet == Tweet(f"maybe im so un{TRIGGER} because it rains", EMOTION_OF[word])
    assert label_text(f"{word} that she is un{word}", joined=True) is Rejection.SEVERAL


@pytest.mark.parametrize("cue", ["that", "thats", "thatz", "because", "when", "whenever", "WHENEVER"])
def test_cue_words_by_their_beginnings(cue: str) -> None:
    text = f"so sad {cue} it rains"
    assert label_text(text, cue_beginnings=True) == Tweet(f"so {TRIGGER} {cue} it rains", "sad")
    if cue not in ("that", "because", "when"):
        assert label_text(text) is Rejection.NO_CAUSE
    assert label_text("so sad bec it rains", cue_beginnings=True) is Rejection.NO_CAUSE


@pytest.mark.data
def test_every_tweet_of_the_paper_has_a_cue_by_its_beginning(data_folder: Path) -> None:
    by_word: Counter[bool] = Counter()
    for example in get_task("iest").read(data_folder / "iest" / "trial.csv"):
        assert example.label is not None
        text = example.dialogue.texts[0].replace(TRIGGER, TRIGGERS[example.label][0])
        assert label_text(text, joined=True, cue_beginnings=True) is not Rejection.NO_CAUSE
        by_word[label_text(text, joined=True) is not Rejection.NO_CAUSE] += 1
    assert 0 < by_word[False] < 0.005 * by_word[True]


@pytest.mark.data
def test_the_papers_tweets_with_un_are_found_when_joined(data_folder: Path) -> None:
    found: Counter[bool] = Counter()
    for example in get_task("iest").read(data_folder / "iest" / "trial.csv"):
        text = example.dialogue.texts[0]
        if "un" + TRIGGER in text and example.label is not None:
            tweet = label_text(text.replace(TRIGGER, TRIGGERS[example.label][0]), joined=True)
            found[tweet == Tweet(text, example.label)] += 1
            assert tweet == Tweet(text, example.label) or tweet is Rejection.SEVERAL
    assert found[True] > 50 * found[False]
