"""Back-translation with a stand-in for the engine: what is kept, what is dropped and why, in which files."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.corpus.augment.ascii_text import ascii_text
from emoscope.corpus.augment.augment import augment
from emoscope.corpus.augment.backtranslation import (
    EMPTY,
    NAME_LOST,
    NEGATION,
    NO_WORDS,
    REASONS,
    SAME,
    SAME_AS_OTHER,
    UNKNOWN_WORD,
    UNLIKE,
    BackTranslator,
)
from emoscope.corpus.augment.engines import UNTRANSLATED
from emoscope.corpus.augment.files import EmotionXFile, TableFile
from emoscope.corpus.augment.meaning import EmbeddingSimilarity, OverlapSimilarity, denies
from emoscope.corpus.augment.shield import shield
from emoscope.corpus.dedupe.deduplicate import texts_of
from emoscope.tables import read_records
from emoscope.tasks import get_task
from emoscope.tasks.datasets.augmentation import with_variants
from kits.corpus_command import run
from kits.jsonl import read_jsonl

Change = Callable[[str], str]


class Reword:
    """An engine that rewords English on its way back, in a way of its own for each language."""

    name = "reword 1"

    def __init__(self, **change: Change) -> None:
        self.change = change
        self.calls: list[list[str]] = []

    def translator(self, source: str, target: str) -> Callable[[Sequence[str]], list[str]]:
        def translate(texts: Sequence[str]) -> list[str]:
            self.calls.append(list(texts))
            return [self.change[source](text) if target == "en" else text for text in texts]

        return translate


def replacing(**words: str) -> Change:
    return lambda text: " ".join(words.get(word, word) for word in text.split())


def one(text: str, change: Change, **options: Any) -> tuple[str | None, str | None]:
    made = BackTranslator(Reword(es=change), ["spa"], **options)([text])[0]["es"]
    return made.text, made.reason


@pytest.mark.parametrize(
    ("text", "change", "expected"),
    [
        ("I am so glad today", replacing(glad="happy"), ("I am so happy today", None)),
        ("I\x92m so glad 😂😂 today :)", replacing(glad="happy"), ("I'm so happy 😂😂 today :)", None)),
        ("thanks @anna , see person_3 !", str.upper, (None, SAME)),
        ("thanks @anna , see person_3 !", replacing(see="meet"), ("thanks @anna, meet person_3!", None)),
        ("that cliché is over", replacing(over="«finished»"), ('that cliche is "finished"', None)),
        ("😂 ... :)", str.upper, (None, NO_WORDS)),
        ("12:30", str.upper, (None, NO_WORDS)),
        ("I am here", lambda _: " . ", (None, EMPTY)),
        ("ask person_3 now", lambda _: "ask now", (None, NAME_LOST)),
        ("ask person_3 now", lambda text: f"{text} {text}", (None, NAME_LOST)),
        ("lol great", lambda _: f"{UNTRANSLATED}lol very great", ("lol very great", None)),
        ("really great", lambda _: f"{UNTRANSLATED}realmente great", (None, UNKNOWN_WORD)),
        ("I do like it", lambda _: "I do not like it", (None, NEGATION)),
        ("I don't like it", lambda _: "I do not like it", ("I do not like it", None)),
        ("I don't like it", lambda _: "I like it", (None, NEGATION)),
        ("see you tomorrow", lambda _: "the price of eggs", (None, UNLIKE)),
    ],
)
def test_what_is_kept_and_what_is_dropped(text: str, change: Change, expected: tuple[str | None, str | None]) -> None:
    assert one(text, change) == expected


def test_variant_is_kept_once_however_it_was_made() -> None:
    engine = Reword(es=replacing(glad="happy"), ca=replacing(glad="Happy,"), fr=replacing(so="very"))
    made = BackTranslator(engine, ["es", "cat", "fra"], similarity=0.0)(["I am so glad", "I am so glad"])
    assert [(language, variant.text) for language, variant in made[0].items()] == [
        ("es", "I am so happy"),
        ("ca", None),
        ("fr", "I am very glad"),
    ]
    assert made[0]["ca"].reason == SAME_AS_OTHER
    assert made[1] == made[0]
    assert all(len(call) == 1 for call in engine.calls)  # what was said twice is translated once


def test_languages_are_checked() -> None:
    for via in ([], ["es", "spa"], ["eng"]):
        with pytest.raises(EmoscopeError, match="each once, and not English"):
            BackTranslator(Reword(es=str), via)


class AboutDogs:
    name = "dogs"

    def vectors(self, dialogues: Sequence[Dialogue]) -> np.ndarray[Any, Any]:
        said = [" ".join(dialogue.texts) for dialogue in dialogues]
        return np.array([[1.0, 0.0] if "dog" in text or "hound" in text else [0.0, 1.0] for text in said])


def test_the_embedder_decides_where_one_is_given() -> None:
    measure = EmbeddingSimilarity(AboutDogs())
    assert one("a dog", lambda _: "hound", measure=measure) == ("hound", None)
    assert one("a dog", lambda _: "cat", measure=measure) == (None, UNLIKE)
    assert one("a dog", lambda _: "cat", measure=measure, similarity=0.0) == ("cat", None)
    assert one("a dog", lambda _: "hound") == (None, UNLIKE)


def test_overlap_knows_a_rewording_from_another_turn() -> None:
    like, unlike = OverlapSimilarity()(
        ["Sorry if I'm bothering you"] * 2, ["Sorry to bother you", "We are at the station"]
    )
    assert like > OverlapSimilarity.threshold > unlike
    assert OverlapSimilarity()(["the same"], ["the same"]) == [1.0]


@given(st.text())
@example("[0]A")
@example("hey [0][1]www.a.b")
def test_protected_text_survives_an_engine_that_changes_nothing(text: str) -> None:
    text = ascii_text(text)
    shielded = shield(text)
    if "zqx" not in text.lower():
        assert shielded.put_back(shielded.translatable) == text


@given(st.lists(st.sampled_from(["hi", "😂", "❤️", ":)", "@bob", "person_3", "<url>", "www.a.b/c", "[#X#]", "#yes"])))
def test_nothing_to_keep_reaches_an_engine(words: list[str]) -> None:
    shielded = shield(" ".join(words))
    assert all("hi" in piece for piece in shielded.translatable)
    assert not any(sign in piece for piece in shielded.translatable for sign in "😂❤:@_<[#./")
    again = shielded.put_back([piece.replace("hi", "hello") for piece in shielded.translatable])
    assert again == " ".join("hello" if word == "hi" else word for word in words)


def test_many_names_keep_apart() -> None:
    names = [f"person_{number}" for number in range(60)]
    shielded = shield("so " + " ".join(names))
    assert shielded.put_back([shielded.translatable[0].upper()]) == "SO " + " ".join(names)


@given(st.text())
def test_ascii_is_ascii_but_for_what_has_no_such_form(text: str) -> None:
    plain = ascii_text(text)
    assert plain == ascii_text(plain)
    assert ascii_text("ﬁancé ¿qué? “no” – it’s") == 'fiance que? "no" - it\'s'
    assert ascii_text("हाँ 👩‍👩‍👧 ❤️") == "हाँ 👩‍👩‍👧 ❤️"


def test_negations_as_people_write_them() -> None:
    assert all(map(denies, ["No way", "dont", "I CAN'T", "never mind", "it wasnt me", "nothing"]))
    assert not any(map(denies, ["now", "notice", "want", "knot", "annoyed", "note"]))


# Files

DIALOGUES = [
    [
        {"speaker": "Ross", "utterance": "I am so glad", "emotion": "joy", "annotation": "0500000"},
        {"speaker": "Rachel", "utterance": "hm \x92kay 😂", "emotion": "neutral", "annotation": "5000000", "extra": 1},
    ],
    [{"speaker": "Joey", "utterance": "so glad", "emotion": "joy", "annotation": "0500000", "utterance_de": "glad"}],
]


def emotionx(folder: Path, content: object = DIALOGUES) -> EmotionXFile:
    path = folder / "in.json"
    path.write_text(json.dumps(content))
    return EmotionXFile(str(path))


def happy(**options: Any) -> BackTranslator:
    return BackTranslator(
        Reword(es=replacing(glad="happy"), ca=replacing(glad="cheerful")), ["es", "ca"], similarity=0.0, **options
    )


def test_emotionx_files_keep_all_they_have(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    counts = augment(emotionx(tmp_path), output, happy())
    written = json.loads(output.read_text())
    assert written[0][0] == DIALOGUES[0][0] | {"utterance_es": "I am so happy", "utterance_ca": "I am so cheerful"}
    assert written[0][1] == DIALOGUES[0][1]
    assert written[1][0] == DIALOGUES[1][0] | {"utterance_es": "so happy", "utterance_ca": "so cheerful"}
    assert output.read_text().isascii()
    assert asdict(counts)["via"]["es"] == {"kept": 2, "dropped": dict.fromkeys(REASONS, 0) | {SAME: 1}}
    assert (counts.dialogues, counts.turns) == (2, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.json", "out.json"]


def test_systems_learn_from_the_variants(tmp_path: Path) -> None:
    output = tmp_path / "out.json"
    augment(emotionx(tmp_path), output, happy())
    examples = list(get_task("emotionx-friends").read(output))
    assert [example.label for example in examples] == ["joy", "neutral", "joy"]
    assert examples[0].votes["joy"] == 5
    made = with_variants(examples, {"joy"})
    assert [example.text for example in made[:3]] == ["I am so glad", "I am so cheerful", "I am so happy"]
    assert all(example.family == examples[0].family for example in made[:3])


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_get_a_column_for_each_turn_and_language(tmp_path: Path, suffix: str) -> None:
    source = tmp_path / "in.csv"
    source.write_text('id,turn1,turn2,label\n7,so glad,"hm, ok",joy\n8,glad,,sad\n')
    output = tmp_path / f"out.{suffix}"
    augment(TableFile(str(source)), output, happy())
    records = list(read_records(str(output)))
    assert [record.columns["label"] for record in records] == ["joy", "sad"]
    assert [record.columns["turn1_es"] for record in records] == ["so happy", "happy"]
    assert not any(record.columns["turn2_es"] for record in records)
    # What is compared for copies is the dialogue as it would be learnt from.
    assert list(texts_of(records[0])) == ["so glad\nhm, ok", "so happy\nhm, ok", "so cheerful\nhm, ok"]


def test_lists_of_turns_and_single_texts(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text('{"turns": ["so glad", "ok"]}\n{"turns": [{"speaker": "A", "text": "ok"}]}\n')
    augment(TableFile(str(source)), tmp_path / "out.jsonl", happy())
    rows = read_jsonl(tmp_path / "out.jsonl")
    assert rows[0]["turns_es"] == ["so happy", "ok"]
    assert rows[1] == {"turns": [{"speaker": "A", "text": "ok"}], "turns_es": None, "turns_ca": None}
    table = tmp_path / "tweets.csv"
    table.write_text("tweet,label\nso glad,joy\n")
    augment(TableFile(str(table), column="tweet"), tmp_path / "tweets.parquet", happy())
    assert pl.read_parquet(tmp_path / "tweets.parquet").to_dicts() == [
        {"tweet": "so glad", "label": "joy", "tweet_es": "so happy", "tweet_ca": "so cheerful"}
    ]


# Going on after a kill


def many(folder: Path, dialogues: int = 40) -> EmotionXFile:
    said = [
        [{"speaker": "A", "utterance": f"so glad {number} {turn}"} for turn in range(3)] for number in range(dialogues)
    ]
    return emotionx(folder, said)


def test_interrupted_run_resumes_with_the_same_result(tmp_path: Path) -> None:
    source = many(tmp_path)
    augment(source, tmp_path / "whole.json", happy(), batch=10)
    seen: list[str] = []

    def breaking(text: str) -> str:
        seen.append(text)
        if len(seen) == 50:
            raise KeyboardInterrupt
        return text.replace("glad", "happy")

    for number in range(2):
        engine = Reword(es=breaking if number == 0 else replacing(glad="happy"), ca=replacing(glad="cheerful"))
        translate = BackTranslator(engine, ["es", "ca"], similarity=0.0)
        if number == 0:
            with pytest.raises(KeyboardInterrupt):
                augment(source, tmp_path / "out.json", translate, batch=10)
            assert not (tmp_path / "out.json").exists()
            (tmp_path / ".out.json.parts" / ".00004.json.part").write_bytes(b'[{"es": ["half')  # as a kill may leave it
        else:
            augment(source, tmp_path / "out.json", translate, batch=10)
    done_before = 4 * 12  # four batches of four dialogues were complete
    assert sum(map(len, engine.calls)) == 4 * (40 * 3 - done_before)
    assert (tmp_path / "out.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert not (tmp_path / ".out.json.parts").exists()


def test_other_settings_start_over(tmp_path: Path) -> None:
    source = emotionx(tmp_path, [[{"utterance": "so glad ü\ud83d"}], [{"utterance": "glad"}]])

    def breaking(_: str) -> str:
        raise KeyboardInterrupt

    broken = Reword(es=lambda text: text if "so" in text else breaking(text))
    with pytest.raises(KeyboardInterrupt):
        augment(source, tmp_path / "out.json", BackTranslator(broken, ["es"]), batch=1)
    assert len(list((tmp_path / ".out.json.parts").iterdir())) == 1
    engine = Reword(es=replacing(glad="happy"))
    augment(source, tmp_path / "out.json", BackTranslator(engine, ["es"], similarity=0.0), batch=1)
    assert sum(map(len, engine.calls)) == 4, "both texts, there and back"


_SLOW = """
import sys, time
from emoscope.corpus.augment.backtranslation import BackTranslator
from emoscope.corpus.augment.files import EmotionXFile
from emoscope.corpus.augment.augment import augment

class Slow:
    name = "reword 1"
    def translator(self, source, target):
        def translate(texts):
            time.sleep(float(sys.argv[3]))
            return [text.replace("glad", "happy") for text in texts]
        return translate

augment(EmotionXFile(sys.argv[1]), sys.argv[2], BackTranslator(Slow(), ["es"]), batch=10)
"""


@pytest.mark.e2e
def test_a_killed_run_leaves_no_half_file(tmp_path: Path) -> None:
    source = many(tmp_path)
    output, parts = tmp_path / "out.json", tmp_path / ".out.json.parts"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def command(target: Path, seconds: float) -> list[str]:
        return [sys.executable, "-c", _SLOW, source.path, str(target), str(seconds)]

    with subprocess.Popen(command(output, 0.1), env=environment) as process:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if len(list(parts.glob("*.json"))) > 1:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not output.exists()
    assert parts.exists()
    for target in (output, tmp_path / "again.json"):
        subprocess.run(command(target, 0), env=environment, check=True)
    assert output.read_bytes() == (tmp_path / "again.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.json", "in.json", "out.json"]


# Mistakes


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ([], "holds no dialogues"),
        ([[]], "dialogue 1: expected a list of utterances"),
        ([[{"utterance": 3}]], "dialogue 1, line 1: expected an object with an 'utterance'"),
        ([[{"utterance": "a"}, {"utterance": "a", "utterance_es": "b"}]], "line 2: has 'utterance_es' already"),
        ({}, "expected a JSON list"),
    ],
)
def test_bad_emotionx_files(tmp_path: Path, content: object, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        augment(emotionx(tmp_path, content), tmp_path / "out.json", happy())
    assert not (tmp_path / "out.json").exists()


def test_bad_names_and_tables(tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    table.write_text("turn1,turn1_es\nso glad,x\n")
    with pytest.raises(InputError, match="row 2: has 'turn1_es' already"):
        augment(TableFile(str(table)), tmp_path / "out.csv", happy())
    with pytest.raises(EmoscopeError, match="which a pipe does not allow"):
        TableFile("-")
    source = emotionx(tmp_path)
    for output, problem in (
        (source.path, "is the input itself"),
        (str(tmp_path / "out.csv"), r"ends in \.json"),
        (str(tmp_path / "no" / "out.json"), "no such folder"),
    ):
        with pytest.raises(EmoscopeError, match=problem):
            augment(source, output, happy())
    for name in ("out.txt", "out.weird", "out"):
        with pytest.raises(EmoscopeError, match=f"{name}: expected a file that has columns"):
            augment(TableFile(str(table)), tmp_path / name, happy())


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Reword(es=replacing(glad="happy"), ca=replacing(glad="cheerful"))
    monkeypatch.setattr("emoscope.corpus.augment.apertium.Apertium", lambda: engine)
    source = emotionx(tmp_path)
    command = ("corpus", "augment", source.path, "--engine", "apertium", "--similarity", "0")
    code, shown, _ = run(*command, "-o", tmp_path / "a.json", "--json")
    assert code == 0
    assert json.loads(shown)["via"]["ca"]["kept"] == 2
    code, shown, _ = run(*command, "-o", tmp_path / "b.json", "--via", "spa")
    assert code == 0
    assert ["kept", "2"] in [line.split() for line in shown.splitlines()]
    assert "utterance_es" in (tmp_path / "b.json").read_text()
    assert "utterance_ca" not in (tmp_path / "b.json").read_text()
    code, _, problem = run("corpus", "augment", source.path, "-o", tmp_path / "c.json", "--engine", "marian")
    assert (code, "the engine marian needs a model (--model), such as" in problem) == (2, True)
    code, _, problem = run(*command, "-o", tmp_path / "c.json", "--model", "some/model")
    assert (code, "the engine apertium takes no model" in problem) == (2, True)
    code, _, problem = run(*command, "-o", tmp_path / "c.json", "--column", "x")
    assert (code, "are for tables" in problem) == (2, True)


def test_all_variants_stand_as_in_the_published_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing changes through German, one word through French, and everything goes wrong through Italian."""
    lost = {"so glad": "", "I do like it": "I do not like it", "see you tomorrow": "the price of eggs"}
    change = {
        "de": str,
        "fr": replacing(glad="happy"),
        "it": lambda text: lost.get(text, f"{text} {UNTRANSLATED}davvero" if "zqx" not in text.lower() else "gone"),
    }
    monkeypatch.setattr("emoscope.corpus.augment.apertium.Apertium", lambda: Reword(**change))
    turns = ["so glad", "I do like it", "see you tomorrow", "ok", "😂", "", "ask person_3 now"]
    source = emotionx(tmp_path, [[{"speaker": "A", "utterance": turn} for turn in turns]])
    command = ("corpus", "augment", source.path, "--engine", "apertium", "--via", "de,fr,it", "--keep-all", "--json")
    code, shown, problem = run(*command, "-o", tmp_path / "out.json")
    assert code == 0, problem
    (written,) = json.loads((tmp_path / "out.json").read_text())
    assert [line["utterance_de"] for line in written] == turns
    assert [line["utterance_fr"] for line in written] == ["so happy", *turns[1:]]
    assert [line["utterance_it"] for line in written] == [
        "so glad",  # nothing came back
        "I do not like it",
        "the price of eggs",
        "ok davvero",
        "😂",
        "",
        "ask person_3 now",  # the name was lost
    ]
    for counts in json.loads(shown)["via"].values():
        assert (counts["kept"], sum(counts["dropped"].values())) == (len(turns), 0)
    code, _, problem = run(*command, "-o", tmp_path / "b.json", "--similarity", "0.5")
    assert (code, "keep_all keeps every variant" in problem) == (2, True)
    assert one("I do like it", change["it"]) == (None, NEGATION)


def test_the_command_compares_by_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Reword(es=replacing(glad="dog"), ca=replacing(glad="happy"))
    monkeypatch.setattr("emoscope.corpus.augment.apertium.Apertium", lambda: engine)
    monkeypatch.setattr("emoscope.models.onnx.sentence_encoder.SentenceEncoder", lambda _: AboutDogs())
    source = emotionx(tmp_path)
    command = ("corpus", "augment", source.path, "--engine", "apertium", "--encoder", "folder", "--json")
    code, shown, problem = run(*command, "-o", tmp_path / "out.json")
    assert code == 0, problem
    via = json.loads(shown)["via"]
    assert (via["es"]["kept"], via["es"]["dropped"][UNLIKE], via["ca"]["kept"]) == (0, 2, 2)


@pytest.mark.data
def test_the_published_files_can_be_augmented(data_folder: Path, tmp_path: Path) -> None:
    source = EmotionXFile(str(data_folder / "emotionx" / "emotionpush.augmented.json"))
    translate = BackTranslator(Reword(es=lambda text: f"well {text}"), ["es"])
    counts = augment(source, tmp_path / "out.json", translate)
    assert (counts.dialogues, counts.turns) == (1000, 14742)
    before = get_task("emotionx-push").read(source.path)
    after = get_task("emotionx-push").read(tmp_path / "out.json")
    for old, new in zip(before, after, strict=True):
        assert (old.dialogue, old.label, old.votes) == (new.dialogue, new.label, new.votes)
        assert {name: new.variants[name] for name in ("de", "fr", "it")} == old.variants
        assert "es" not in new.variants or ascii_text(new.variants["es"]) == new.variants["es"]
