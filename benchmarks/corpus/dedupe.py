"""Measure deduplication: recall and precision on edited dialogues, and speed on 10 k to 100 k of them.

    python -m benchmarks.corpus.dedupe --data DATA [--sizes 10000,100000] [--seed 1] [--write]

The dialogues are EmoContext's training set; for larger sizes, dialogues get the last turn of another one. A tenth are
edited copies. Each size runs three times, each time in its own process; the fastest run counts.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

from benchmarks.common.emocontext import emocontext_turns
from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.options import command_line
from benchmarks.common.pages import printed_section
from benchmarks.common.processes import module_output
from emoscope.corpus.dedupe.deduplicate import deduplicate
from emoscope.corpus.dedupe.duplicates import Duplicate, DuplicateFinder

Turns = tuple[str, ...]
Edit = Callable[[str, random.Random], str]


def typo(text: str, chance: random.Random) -> str:
    place = chance.randrange(max(len(text) - 1, 1))
    return text[:place] + text[place + 1 : place + 2] + text[place : place + 1] + text[place + 2 :]


def without_word(text: str, chance: random.Random) -> str:
    words = text.split()
    del words[chance.randrange(len(words))]
    return " ".join(words)


def other_word(text: str, chance: random.Random) -> str:
    words = text.split()
    words[chance.randrange(len(words))] = chance.choice(["really", "today", "nothing", "you", "so"])
    return " ".join(words)


EDITS: dict[str, Edit] = {
    "case and spaces": lambda text, _: f" {text.upper()}  ",
    "punctuation or emoji added": lambda text, chance: text + chance.choice(["!", ".", "?", " 😂", " :)"]),
    "letters swapped": typo,
    "word removed": without_word,
    "word replaced": other_word,
}


def edited(turns: Turns, edit: Edit, chance: random.Random) -> Turns:
    """Edit the longest turn, where an edit leaves a near copy rather than another dialogue."""
    longest = max(range(len(turns)), key=lambda place: len(turns[place]))
    return tuple(edit(turn, chance) if place == longest else turn for place, turn in enumerate(turns))


def with_other_ends(dialogues: list[Turns], number: int, chance: random.Random) -> list[Turns]:
    return [(*chance.choice(dialogues)[:2], chance.choice(dialogues)[2]) for _ in range(number)]


def find_duplicates(texts: Iterable[str], threshold: float) -> Iterator[Duplicate]:
    finder = DuplicateFinder(threshold=threshold)
    for number, text in enumerate(texts):
        finder.add(number, text)
    return finder.duplicates()


def quality(dialogues: list[Turns], chance: random.Random) -> None:
    dropped = {copy.item for copy in find_duplicates(map("\n".join, dialogues), 0.7)}
    # Long enough: any edit of "ok" makes another text.
    originals = [turns for place, turns in enumerate(dialogues) if place not in dropped and sum(map(len, turns)) >= 40]
    print("| edit | threshold | recall | precision |\n|---|---:|---:|---:|")
    for (name, edit), threshold in product(EDITS.items(), (0.7, 0.8)):
        sources = chance.sample(range(len(originals)), 2000)
        copies = [edited(originals[place], edit, chance) for place in sources]
        true = {(len(originals) + number, place) for number, place in enumerate(sources)}
        # Dialogues that share only two turns with another one are not copies.
        others = [(*originals[place][:2], chance.choice(originals)[2]) for place in chance.sample(sources, 1000)]
        texts = ["\n".join(turns) for turns in originals + copies + others]
        found = {(copy.item, copy.of) for copy in find_duplicates(texts, threshold)}
        right = len(found & true)
        print(f"| {name} | {threshold} | {right / len(true):.3f} | {right / len(found):.3f} |", flush=True)


def one_size(source: str) -> None:
    begun = time.perf_counter()
    counts = deduplicate([source], Path(source).with_suffix(".kept.tsv"))
    spent = time.perf_counter() - begun
    print(json.dumps({"seconds": spent, "peak": peak_memory() / MB, **counts[source].as_dict()}))


def speed(dialogues: list[Turns], sizes: list[int], chance: random.Random) -> None:
    print("| dialogues | kept | exact | near | seconds | dialogues/s | peak MB |\n" + "|---:" * 7 + "|")
    for size in sizes:
        whole = dialogues[: size * 9 // 10]
        whole += with_other_ends(dialogues, size * 9 // 10 - len(whole), chance)
        whole += [
            edited(chance.choice(whole), chance.choice(list(EDITS.values())), chance) for _ in range(size - len(whole))
        ]
        chance.shuffle(whole)
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "all.tsv"
            lines = ("\t".join(" ".join(turn.split()) or "-" for turn in turns) for turns in whole)
            source.write_text("turn1\tturn2\tturn3\n" + "\n".join(lines) + "\n")
            runs = [module_output("benchmarks.corpus.dedupe", "--one", source) for _ in range(3)]
        found = min(map(json.loads, runs), key=lambda run: run["seconds"])
        copies = found["dropped"]
        print(
            f"| {size:,} | {found['kept']:,} | {copies['exact copy']:,} | {copies['near copy']:,} | "
            f"{found['seconds']:.1f} | {size / found['seconds']:,.0f} | {found['peak']:,.0f} |",
            flush=True,
        )


def main() -> None:
    parser = command_line(__doc__, "data", "seed", "write")
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_size(options.one)
        return
    chance = random.Random(options.seed)
    dialogues = [tuple(turns) for turns in emocontext_turns(options.data, "train")]
    with printed_section("corpus", "dedupe", write=options.write):
        quality(dialogues, chance)
    print()
    with printed_section("corpus", "dedupe-speed", write=options.write):
        speed(dialogues, [int(size) for size in options.sizes.split(",")], chance)


if __name__ == "__main__":
    main()
