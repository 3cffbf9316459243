"""Recall and precision of names of people: on sentences with names of twelve cultures, and on Friends."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common.pages import printed_section
from benchmarks.filters.personal import unmarked
from benchmarks.filters.sets import PARTS, SETS, Tally, lines_of
from emoscope.core.dialogue import Dialogue, Turn
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.spans import Kind

FRIENDS = "emotionx/friends.json"
FIRST_NAMES = (
    "Joey", "Chandler", "Ross", "Rachel", "Monica", "Phoebe", "Emily", "Janice", "Mike", "Richard", "Carol", "Susan",
    "Ben", "Paul",
)  # fmt: skip
JUDGED = SETS / "names_judged.tsv"  # what is found in Friends, each once, and 1 if it names a person


def names_set(part: str) -> Iterator[tuple[str, str]]:
    for line in lines_of("names", part):
        culture, _, text = line.partition("\t")
        yield culture, text


def count_names(part: str) -> tuple[dict[str, Tally], list[str]]:
    """The tally of each culture; sentences without a name count under "-"."""
    finder = PersonalFilter(mask=True, kinds=[Kind.NAME])
    tallies: dict[str, Tally] = {}
    errors = []
    for culture, line in names_set(part):
        text, there = unmarked(line)
        found = finder.find(text)
        hidden = {place for span in found for place in range(span.start, span.end)}
        tally = tallies.setdefault(culture, Tally())
        covered = [hidden >= set(range(span.start, span.end)) for span in there]
        right = [any(one.start < span.end and span.start < one.end for span in there) for one in found]
        tally.there += len(there)
        tally.covered += sum(covered)
        tally.found += len(found)
        tally.right += sum(right)
        if not all(covered) or not all(right):
            errors.append(f"{line}  =>  {[text[one.start : one.end] for one in found]}")
    return tallies, errors


def friends_scenes(data: Path) -> list[Dialogue]:
    scenes = json.loads((data / FRIENDS).read_text(encoding="utf-8"))
    return [Dialogue(tuple(Turn(turn["utterance"], turn["speaker"]) for turn in scene)) for scene in scenes]


def count_friends(data: Path) -> tuple[dict[str, tuple[int, int]], Counter[str]]:
    """Of each first name, mentions and those masked, without looking at who speaks; and all that was found."""
    finder = PersonalFilter(mask=True, kinds=[Kind.NAME])
    named = re.compile(rf"\b(?:{'|'.join(FIRST_NAMES)})\b")
    mentions: Counter[str] = Counter()
    masked: Counter[str] = Counter()
    found: Counter[str] = Counter()
    for scene in friends_scenes(data):
        for text in scene.texts:
            spans = finder.find(text)
            found.update(text[span.start : span.end] for span in spans)
            for match in named.finditer(text):
                mentions[match.group()] += 1
                masked[match.group()] += any(span.start <= match.start() and match.end() <= span.end for span in spans)
    return {name: (mentions[name], masked[name]) for name in FIRST_NAMES}, found


def judged_precision(found: Counter[str]) -> tuple[int, int]:
    """Of what was found in Friends and read: what names a person, and all."""
    rows = (line.split("\t") for line in JUDGED.read_text(encoding="utf-8").split("\n") if line)
    verdicts = {name: right == "1" for name, right in rows}
    known = {name: count for name, count in found.items() if name in verdicts}
    return sum(count for name, count in known.items() if verdicts[name]), sum(known.values())


def measure_names(data: Path, write: bool) -> dict[str, Any]:
    counted = {part: count_names(part)[0] for part in PARTS}
    totals = {part: total_of(tallies) for part, tallies in counted.items()}
    mentions, found = count_friends(data)
    all_mentions, masked = (sum(column) for column in zip(*mentions.values(), strict=True))
    right, read = judged_precision(found)
    with printed_section("filters", "names", write=write):
        heads = " | ".join(f"{part}: recall | precision | names" for part in PARTS)
        print(f"| names | {heads} |\n|---" + "|---:" * 6 + "|")
        for culture in counted["tuned"]:
            cells = " | ".join(shown(counted[part].get(culture, Tally())) for part in PARTS)
            print(f"| {'sentences without names' if culture == '-' else culture} | {cells} |")
        print(f"| all | {' | '.join(shown(totals[part]) for part in PARTS)} |")
    print()
    with printed_section("filters", "names-friends", write=write):
        print("| Friends | mentions | masked | recall |\n|---|---:|---:|---:|")
        for name, (number, hidden) in mentions.items():
            print(f"| {name} | {number} | {hidden} | {hidden / number:.3f} |")
        print(f"| all | {all_mentions:,} | {masked:,} | {masked / all_mentions:.3f} |")
        print(
            f"\nOf {read:,} names found in the scripts and read, {right:,} name a person: precision {right / read:.3f}."
        )
    print()
    held_out = totals["held out"]
    return {
        "set": "benchmarks/filter_sets, names, held out; EmotionX Friends",
        "items": held_out.there,
        "recall": round(held_out.recall, 4),
        "precision": round(held_out.precision, 4),
        "friends": {
            "mentions": all_mentions,
            "recall": round(masked / all_mentions, 4),
            "precision": round(right / read, 4),
        },
    }


def total_of(tallies: dict[str, Tally]) -> Tally:
    names = ("there", "covered", "found", "right")
    return Tally(*(sum(getattr(one, name) for one in tallies.values()) for name in names))


def shown(tally: Tally) -> str:
    return f"{tally.recall:.3f} | {tally.precision:.3f} | {tally.there}"
