"""Error rates of the filter of sensitive topics: on sentences of ours, and on what it finds in chats and comments.

A line of the set is its topics, or - for one that must pass (-drugs: one that looks like drugs), a tab, and the
sentence. Slurs in it are [[in ROT13]].
"""

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.pages import printed_section
from benchmarks.filters.sets import COMMENTS, PARTS, SETS, Tally, lines_of
from emoscope.corpus.filters.sensitive import STANDARD, SensitiveFilter, Topic, topics_of
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

CODED = re.compile(r"\[\[(.*?)\]\]")
JUDGED = SETS / "sensitive_judged.tsv"
LABELS = ("others", "happy", "sad", "angry")


@dataclass(slots=True)
class PartTally:
    """All topics of one part of the set."""

    topics: dict[Topic, Tally] = field(default_factory=lambda: {topic: Tally() for topic in STANDARD})
    harmless: int = 0
    stopped: int = 0  # sentences that must pass, and do not
    errors: list[str] = field(default_factory=list)

    @property
    def total(self) -> Tally:
        """Of all topics together."""
        names = ("there", "covered", "found", "right")
        return Tally(*(sum(getattr(one, name) for one in self.topics.values()) for name in names))


def sensitive_set(part: str) -> Iterator[tuple[set[Topic], str]]:
    for line in lines_of("sensitive", part):
        expected, _, text = line.partition("\t")
        topics = set() if expected.startswith("-") else {Topic(name) for name in expected.split(",")}
        yield topics, CODED.sub(lambda match: codecs.decode(match[1], "rot13"), text)


def count_sensitive(part: str) -> PartTally:
    tally = PartTally()
    for there, text in sensitive_set(part):
        found = set(topics_of(text))
        tally.harmless += not there
        tally.stopped += bool(found and not there)
        for topic, own in tally.topics.items():
            own.there += topic in there
            own.found += topic in found
            own.covered += topic in there & found
            own.right += topic in there & found
        if found != there:
            tally.errors.append(f"{', '.join(sorted(there)) or '-'}: {text}  =>  {sorted(found)}")
    return tally


def measure_sensitive(data: Path, write: bool) -> dict[str, Any]:
    tallies = {part: count_sensitive(part) for part in PARTS}
    judged = count_judged(data)
    with printed_section("filters", "sensitive", write=write):
        print_topics(tallies, judged)
    print()
    for part, tally in tallies.items():
        print(f"{part}: {tally.stopped} of {tally.harmless} sentences that must pass were stopped")
    print()
    with printed_section("filters", "sensitive-chats", write=write):
        chat_drops(data)
    held_out = tallies["held out"]
    return {
        "set": "benchmarks/filter_sets, sensitive topics, held out",
        "items": sum(1 for _ in sensitive_set("held out")),
        "topics": {
            topic.value: {"recall": round(one.recall, 4), "precision": round(one.precision, 4), "items": one.there}
            for topic, one in held_out.topics.items()
        },
        "look_alikes_stopped": round(held_out.stopped / held_out.harmless, 4),
        "precision_in_goemotions_dev": {
            topic.value: {"right": right, "read": read} for topic, (right, read) in judged.items() if read
        },
    }


def print_topics(tallies: dict[str, PartTally], judged: dict[Topic, tuple[int, int]]) -> None:
    heads = " | ".join(f"{part}: recall | precision | sentences" for part in PARTS)
    print(f"| topic | {heads} | comments judged | precision |\n|---" + "|---:" * 8 + "|")
    for topic in STANDARD:
        cells = [shown(tallies[part].topics[topic]) for part in PARTS]
        right, read = judged[topic]
        print(f"| {topic} | {' | '.join(cells)} | {read} | {f'{right / read:.2f}' if read else ''} |")
    right, read = (sum(one[place] for one in judged.values()) for place in (0, 1))
    print(f"| all | {' | '.join(shown(tallies[part].total) for part in PARTS)} | {read} | {right / read:.2f} |")


def shown(tally: Tally) -> str:
    return f"{tally.recall:.3f} | {tally.precision:.3f} | {tally.there}"


def count_judged(data: Path) -> dict[Topic, tuple[int, int]]:
    """Of GoEmotions' development comments in which a topic is found and that were read: those about it, and all.

    The file has a comment's line, counted from 0, the topic, and 1 if the comment is about it.
    """
    comments = (data / COMMENTS / "dev.tsv").read_text(encoding="utf-8").splitlines()
    found: dict[Topic, list[bool]] = {topic: [] for topic in STANDARD}
    for row in JUDGED.read_text(encoding="utf-8").splitlines():
        line, name, right = row.split("\t")
        if Topic(name) in topics_of(comments[int(line)].split("\t")[0]):
            found[Topic(name)].append(right == "1")
    return {topic: (sum(own), len(own)) for topic, own in found.items()}


def chat_drops(data: Path) -> None:
    """How much of real chats goes."""
    examples = read_split(get_task("emocontext"), "train", data)[:10_000]
    reviews = SensitiveFilter().review([example.dialogue for example in examples])
    dropped = Counter(
        (topic, str(example.label))
        for example, review in zip(examples, reviews, strict=True)
        for topic in (*review.details.get("turns", ()), *(["any"] if review.reason else []))
    )
    labels = Counter(str(example.label) for example in examples)
    print("| EmoContext train, dropped | " + " | ".join(LABELS) + " |\n|---" + "|---:" * len(LABELS) + "|")
    for topic in (*(one.value for one in STANDARD), "any"):
        print(f"| {topic} | " + " | ".join(f"{dropped[topic, label] / labels[label]:.1%}" for label in LABELS) + " |")
    print()
