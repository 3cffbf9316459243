"""Train the offensive filter, make the filters' word lists, and measure how often each filter errs.

    python benchmarks/filters.py lists --data DATA     # words/english.txt and words/names.txt; needs Faker
    python benchmarks/filters.py train --data DATA     # the shipped model, from TweetEval's training tweets
    python benchmarks/filters.py measure --data DATA   # the tables of docs/corpus.md, and error_rates.json
    python benchmarks/filters.py speed --data DATA     # dialogues a second and peak memory, each filter alone and all

The sets for personal data and languages are in benchmarks/filter_sets: `tuned` was looked at while the rules were
written, `held out` was not.
"""

import argparse
import hashlib
import importlib
import json
import re
import resource
import subprocess
import sys
import tempfile
import textwrap
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.cli.corpus_filter import Offensive, Personal, chosen_filters
from emoscope.corpus.filters.identify import UNKNOWN, LanguageIdentifier
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.spans import Kind, Span
from emoscope.corpus.filters.table import filter_table
from emoscope.metrics import confusion_matrix
from emoscope.models.offensive import SHIPPED, OffensiveModel
from emoscope.significance import bootstrap_interval
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

ROOT = Path(__file__).resolve().parent.parent
SETS = ROOT / "benchmarks" / "filter_sets"
FILTERS = ROOT / "src" / "emoscope" / "corpus" / "filters"
TWEETS = "auxiliary/tweeteval/offensive"
COMMENTS = "auxiliary/goemotions/original"
PARTS = ("tuned", "held out")
NAME_LOCALES = ("en_US", "en_GB", "en_IN", "es_ES", "de_DE", "fr_FR", "it_IT", "pt_BR")
PRECISION = 0.7
THRESHOLDS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
LABELS = ("not-offensive", "offensive")
MARKED = re.compile(r"\[\[([A-Z]+):(.*?)\]\](?!\])")


# Word lists


def make_lists(data: Path) -> None:
    counts: Counter[str] = Counter()
    for split in ("train", "dev"):
        for line in (data / COMMENTS / f"{split}.tsv").read_text(encoding="utf-8").splitlines():
            text = line.split("\t")[0].lower().replace("’", "'")
            counts.update(set(re.findall(r"[a-z]+(?:'[a-z]+)*", text)))
    # Names and religions are masked in these comments.
    common = sorted(word for word, count in counts.items() if count >= 20 and word not in ("name", "religion"))
    note = (
        "# Words in at least 20 of GoEmotions' training and development comments (CC BY 4.0, Google Research):\n"
        "# python benchmarks/filters.py lists --data DATA\n"
    )
    (FILTERS / "words" / "english.txt").write_text(note + wrapped(common), encoding="utf-8")
    names: set[str] = set()
    for locale in NAME_LOCALES:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for attribute in ("first_names", "first_names_female", "first_names_male", "first_names_nonbinary"):
            for name in getattr(provider, attribute, ()) or ():
                names |= {name.lower(), without_accents(name).lower()}
    chosen = sorted(name for name in names if re.fullmatch(r"[^\W\d_]{3,}", name))
    note = (
        f"# First names of Faker (MIT licence, Daniele Faraglia and contributors), locales {' '.join(NAME_LOCALES)}:\n"
        "# python benchmarks/filters.py lists --data DATA\n"
    )
    (FILTERS / "words" / "names.txt").write_text(note + wrapped(chosen), encoding="utf-8")
    print(f"{len(common):,} words, {len(chosen):,} names")


def wrapped(words: Sequence[str]) -> str:
    return "\n".join(textwrap.wrap(" ".join(words), 118)) + "\n"


def without_accents(text: str) -> str:
    return "".join(mark for mark in unicodedata.normalize("NFD", text) if not unicodedata.combining(mark))


# Offensive


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


# Personal data


@dataclass(slots=True)
class Tally:
    """Of one kind: how many there are, are covered whole, were found, and were found rightly."""

    there: int = 0
    covered: int = 0
    found: int = 0
    right: int = 0

    @property
    def recall(self) -> float:
        """Covered, of those there are."""
        return self.covered / self.there if self.there else 1.0

    @property
    def precision(self) -> float:
        """Right, of those found."""
        return self.right / self.found if self.found else 1.0


@dataclass(slots=True)
class PartTally:
    """All kinds of one part of the set."""

    kinds: dict[Kind, Tally] = field(default_factory=lambda: {kind: Tally() for kind in Kind})
    sentences: int = 0
    harmless: int = 0
    stopped: int = 0  # harmless sentences in which something was found
    leaked: int = 0  # sentences with personal data, some of it not masked whole by any kind
    errors: list[str] = field(default_factory=list)


def unmarked(line: str) -> tuple[str, list[Span]]:
    """The sentence, and where its personal data stand.

    >>> unmarked("mail [[EMAIL:a@b.com]] ok")
    ('mail a@b.com ok', [Span(start=5, end=12, kind=<Kind.EMAIL: 'email'>)])
    """
    text, spans, end = "", [], 0
    for match in MARKED.finditer(line):
        text += line[end : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), Kind[match[1]]))
        text += match[2]
        end = match.end()
    return text + line[end:], spans


def personal_set() -> Iterator[tuple[str, str]]:
    for part in PARTS:
        path = SETS / f"personal_{part.replace(' ', '_')}.txt"
        for line in path.read_text(encoding="utf-8").splitlines():
            yield part, line
    for line in (SETS / "personal_generated.txt").read_text(encoding="utf-8").splitlines():
        part, _, text = line.partition("\t")
        yield part, text


def count_personal() -> dict[str, PartTally]:
    finder = PersonalFilter(mask=True)
    tallies = {part: PartTally() for part in PARTS}
    for part, line in personal_set():
        tally = tallies[part]
        text, there = unmarked(line)
        found = finder.find(text)
        tally.sentences += 1
        tally.harmless += not there
        tally.stopped += bool(found and not there)
        hidden = {place for span in found for place in range(span.start, span.end)}
        tally.leaked += any(not hidden >= set(range(span.start, span.end)) for span in there)
        missed = False
        for span in there:
            same = [one for one in found if one.kind == span.kind and one.start <= span.start and one.end >= span.end]
            tally.kinds[span.kind].there += 1
            tally.kinds[span.kind].covered += bool(same)
            missed |= not same
        for one in found:
            right = any(one.kind == span.kind and one.start < span.end and span.start < one.end for span in there)
            tally.kinds[one.kind].found += 1
            tally.kinds[one.kind].right += right
            missed |= not right
        if missed:
            tally.errors.append(f"{line}  =>  {[(one.kind.name, text[one.start : one.end]) for one in found]}")
    return tallies


def measure_personal() -> dict[str, Any]:
    tallies = count_personal()
    print(
        "| kind | "
        + " | ".join(f"{part}: recall | precision | items" for part in PARTS)
        + " |\n|---"
        + "|---:" * 6
        + "|"
    )
    for kind in Kind:
        cells = [
            f"{one.recall:.3f} | {one.precision:.3f} | {one.there}"
            for one in (tallies[part].kinds[kind] for part in PARTS)
        ]
        print(f"| {kind.value} | " + " | ".join(cells) + " |")
    totals = {part: Tally() for part in PARTS}
    for part, tally in tallies.items():
        for one in tally.kinds.values():
            for name in ("there", "covered", "found", "right"):
                setattr(totals[part], name, getattr(totals[part], name) + getattr(one, name))
    cells = [f"{one.recall:.3f} | {one.precision:.3f} | {one.there}" for one in totals.values()]
    print("| all | " + " | ".join(cells) + " |\n")
    for part, tally in tallies.items():
        print(
            f"{part}: {tally.sentences} sentences; {tally.stopped} of {tally.harmless} look-alikes stopped; something "
            f"left unmasked in {tally.leaked} of {tally.sentences - tally.harmless} with personal data"
        )
    print()
    held_out = tallies["held out"]
    return {
        "set": "benchmarks/filter_sets, personal data, held out",
        "items": held_out.sentences,
        "kinds": {
            kind.value: {"recall": round(one.recall, 4), "precision": round(one.precision, 4), "items": one.there}
            for kind, one in held_out.kinds.items()
        },
        "look_alikes_stopped": round(held_out.stopped / held_out.harmless, 4),
    }


# Language


def language_set(part: str) -> Iterator[tuple[str, list[str]]]:
    path = SETS / f"language_{part.replace(' ', '_')}.txt"
    for line in path.read_text(encoding="utf-8").splitlines():
        expected, _, turns = line.partition("\t")
        yield expected, turns.split(" | ")


def language_group(expected: str) -> str:
    if "+" in expected:
        return {"en+hi": "Hinglish", "en+es": "Spanglish"}[expected]
    names = {"en": "English", "any": "too short to tell", "hi": "Hindi, mostly in Latin letters", "es": "Spanish"}
    return names.get(expected, "other languages")


def count_language(identifier: LanguageIdentifier, part: str) -> tuple[dict[str, list[int]], list[str]]:
    """For each group: lines, lines named rightly, and lines that `--language en` decides on rightly."""
    groups: dict[str, list[int]] = {}
    errors = []
    for expected, turns in language_set(part):
        found = identifier.identify(turns)
        right = found in ("en", UNKNOWN) if expected == "any" else found == expected
        keeps = found in ("en", UNKNOWN)
        row = groups.setdefault(language_group(expected), [0, 0, 0])
        row[0] += 1
        row[1] += right
        row[2] += keeps == (expected in ("en", "any"))
        if not right:
            errors.append(f"{expected} {found} {turns}")
    return groups, errors


def measure_language(data: Path) -> dict[str, Any]:
    identifier = LanguageIdentifier()
    counted = {part: count_language(identifier, part)[0] for part in PARTS}
    heads = " | ".join(f"{part}: lines | named rightly | kept or dropped rightly" for part in PARTS)
    print(f"| | {heads} |\n|---" + "|---:" * 6 + "|")
    for group in counted["tuned"]:
        rows = [counted[part][group] for part in PARTS]
        print(f"| {group} | " + " | ".join(f"{n} | {named / n:.3f} | {kept / n:.3f}" for n, named, kept in rows) + " |")
    print()
    real = {
        "EmotionX Friends, utterances": [
            [example.text] for example in read_split(get_task("emotionx-friends"), "train", data)
        ],
        "GoEmotions test, comments": [
            [line.split("\t")[0]] for line in (data / COMMENTS / "test.tsv").read_text(encoding="utf-8").splitlines()
        ],
        "EmoContext dev, dialogues": [
            list(example.dialogue.texts) for example in read_split(get_task("emocontext"), "dev", data)
        ],
    }
    print("| English data | texts | too short to tell | code-mixed | other language |\n|---" + "|---:" * 4 + "|")
    for name, texts in real.items():
        found = Counter(identifier.identify(turns) for turns in texts)
        mixed = sum(count for code, count in found.items() if "+" in code)
        other = len(texts) - mixed - found["en"] - found[UNKNOWN]
        print(f"| {name} | {len(texts):,} | {found[UNKNOWN]:,} | {mixed} | {other} |")
    print()
    return {
        "set": "benchmarks/filter_sets, languages, held out",
        "items": sum(row[0] for row in counted["held out"].values()),
        "groups": {
            group: {"lines": n, "named_rightly": round(named / n, 4), "kept_or_dropped_rightly": round(kept / n, 4)}
            for group, (n, named, kept) in counted["held out"].items()
        },
    }


# Speed


def one_speed(data: Path, options: str) -> None:
    """One run of the filters in this process, on EmoContext's training dialogues."""
    offensive, personal, language = options.split(",")
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        filters = chosen_filters(Offensive(offensive), Personal(personal), language)
        ready = time.perf_counter()
        report = filter_table(str(data / "emocontext/train.txt"), Path(folder) / "out", filters)
        done = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{report.read:,} | {report.kept:,} | {ready - begun:.1f} | {report.read / (done - ready):,.0f} | {peak:,.0f}"
    )


def speed(data: Path) -> None:
    print("| filters | dialogues | kept | seconds to start | dialogues a second | peak MB |\n|---" + "|---:" * 5 + "|")
    for name, options in (
        ("language", "off,off,en"),
        ("offensive", "drop,off,off"),
        ("personal, drop", "off,drop,off"),
        ("personal, mask", "off,mask,off"),
        ("all, mask", "drop,mask,en"),
    ):
        command = [sys.executable, __file__, "one", "--data", str(data), "--filters", options]
        print(f"| {name} | {subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=["lists", "train", "measure", "speed", "errors", "one"])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--filters", help=argparse.SUPPRESS)
    options = parser.parse_args()
    match options.step:
        case "lists":
            make_lists(options.data)
        case "train":
            train(options.data)
        case "speed":
            speed(options.data)
        case "one":
            one_speed(options.data, options.filters)
        case "errors":  # of the tuned part only: the other one is not to be looked at
            print("\n".join(count_personal()["tuned"].errors))
            print("\n".join(count_language(LanguageIdentifier(), "tuned")[1]))
        case _:
            rates = {
                "offensive": measure_offensive(options.data),
                "personal": measure_personal(),
                "language": measure_language(options.data),
            }
            (FILTERS / "error_rates.json").write_text(json.dumps(rates, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
