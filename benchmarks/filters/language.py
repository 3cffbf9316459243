"""Error rates of the filter of languages, on lines of ours and on English data."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common.pages import printed_section
from benchmarks.filters.sets import COMMENTS, PARTS, SETS, lines_of
from emoscope.corpus.filters.identify import UNKNOWN, LanguageIdentifier
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split


def language_set(part: str) -> Iterator[tuple[str, list[str]]]:
    for line in lines_of("language", part):
        expected, _, turns = line.partition("\t")
        yield expected, turns.split(" | ")


def language_group(expected: str) -> str:
    if "+" in expected:
        return {"en+hi": "Hinglish", "en+es": "Spanglish"}[expected]
    names = {"en": "English", "any": "too short to tell", "hi": "Hindi, mostly romanised", "es": "Spanish"}
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


def count_kept(identifier: LanguageIdentifier, name: str) -> dict[str, tuple[int, int]]:
    """Of a set without English: the sentences of each language, and those that `--language en` keeps."""
    counts: dict[str, list[int]] = {}
    for line in (SETS / f"language_{name}.txt").read_text(encoding="utf-8").splitlines():
        expected, _, text = line.partition("\t")
        row = counts.setdefault(expected, [0, 0])
        row[0] += 1
        row[1] += identifier.identify([text]) in ("en", UNKNOWN)
    return {code: (number, kept) for code, (number, kept) in counts.items()}


def print_kept(identifier: LanguageIdentifier) -> None:
    """How much of other languages is kept as English: two sets, both read while lists were written."""
    looked_at, others = count_kept(identifier, "fresh"), count_kept(identifier, "fresh_held_out")
    print("| language | first set | kept as English | second set | kept as English |\n|---" + "|---:" * 4 + "|")
    for code, (number, kept) in looked_at.items():
        print(f"| {code} | {number} | {kept} | {others.get(code, (0, 0))[0]} | {others.get(code, (0, 0))[1]} |")


def print_turns(identifier: LanguageIdentifier) -> None:
    """How many sentences of the two sets are kept as one turn of an English dialogue."""
    before, after = "hey, how was your day?", "sorry, can you say that again in english?"
    for title, name in (("first", "fresh"), ("second", "fresh_held_out")):
        texts = [line.partition("\t")[2] for line in lines_of("language", name)]
        long = [text for text in texts if len(text.split()) > 2]
        kept = [text for text in texts if identifier.identify([before, text, after]) in ("en", UNKNOWN)]
        print(
            f"- {title} set, each sentence between two English turns: {len(kept)} of {len(texts)} dialogues kept; "
            f"{len(set(kept) & set(long))} of the {len(long)} with more than two words"
        )


def measure_language(data: Path, write: bool) -> dict[str, Any]:
    identifier = LanguageIdentifier()
    counted = {part: count_language(identifier, part)[0] for part in PARTS}
    with printed_section("filters", "language", write=write):
        print_groups(counted)
    print()
    with printed_section("filters", "language-english", write=write):
        print_english(identifier, data)
    print()
    with printed_section("filters", "language-kept", write=write):
        print_kept(identifier)
    with printed_section("filters", "language-turns", write=write):
        print_turns(identifier)
    return {
        "set": "benchmarks/filter_sets, languages, held out",
        "items": sum(row[0] for row in counted["held out"].values()),
        "groups": {
            group: {"lines": n, "named_rightly": round(named / n, 4), "kept_or_dropped_rightly": round(kept / n, 4)}
            for group, (n, named, kept) in counted["held out"].items()
        },
    }


def print_groups(counted: dict[str, dict[str, list[int]]]) -> None:
    heads = " | ".join(f"{part}: lines | language right | decision right" for part in PARTS)
    print(f"| | {heads} |\n|---" + "|---:" * 6 + "|")
    for group in counted["tuned"]:
        rows = [counted[part][group] for part in PARTS]
        print(f"| {group} | " + " | ".join(f"{n} | {named / n:.3f} | {kept / n:.3f}" for n, named, kept in rows) + " |")


def print_english(identifier: LanguageIdentifier, data: Path) -> None:
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
