"""How well and how fast copies are found: recall and precision on edited dialogues, and what 10 k to 100 k cost.

    python -m benchmarks.corpus.dedupe --data DATA [--sizes 10000,100000] [--seed 1] [--write]

The dialogues are EmoContext's training set; more than it has are made by giving a dialogue the last turn of another.
A tenth of the dialogues are edited copies. Every size runs in a process of its own, so that its peak memory is its own,
three times, and the fastest counts.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

from benchmarks.common.memory import MB, peak_memory
from benchmarks.common.pages import printed_section
from benchmarks.common.processes import module_output
from emoscope.corpus.dedupe.deduplicate import deduplicate
from emoscope.corpus.dedupe.duplicates import Duplicate, DuplicateFinder
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

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
    """One turn edited: the longest, for there an edit leaves a copy rather than another dialogue."""
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
    # Of some length: in "ok", every edit makes another text.
    originals = [turns for place, turns in enumerate(dialogues) if place not in dropped and sum(map(len, turns)) >= 40]
    print("| edit | threshold | recall | precision |\n|---|---:|---:|---:|")
    for (name, edit), threshold in product(EDITS.items(), (0.7, 0.8)):
        sources = chance.sample(range(len(originals)), 2000)
        copies = [edited(originals[place], edit, chance) for place in sources]
        true = {(len(originals) + number, place) for number, place in enumerate(sources)}
        # Told from the copies must be dialogues that share two turns with one there is.
        others = [(*originals[place][:2], chance.choice(originals)[2]) for place in chance.sample(sources, 1000)]
        texts = ["\n".join(turns) for turns in originals + copies + others]
        found = {(copy.item, copy.of) for copy in find_duplicates(texts, threshold)}
        right = len(found & true)
        print(f"| {name} | {threshold} | {right / len(true):.3f} | {right / len(found):.3f} |", flush=True)


def one_size(source: str) -> None:
    begun = time.perf_counter()
    counts = deduplicate([source], Path(source).with_suffix(".kept.tsv"))
    seconds = time.perf_counter() - begun
    print(json.dumps({"seconds": seconds, "peak": peak_memory() / MB, **counts[source].as_dict()}))


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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="put the tables into docs/results/corpus.md")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        one_size(options.one)
        return
    chance = random.Random(options.seed)
    dialogues = [example.dialogue.texts for example in read_split(get_task("emocontext"), "train", options.data)]
    with printed_section("corpus", "dedupe", write=options.write):
        quality(dialogues, chance)
    print()
    with printed_section("corpus", "dedupe-speed", write=options.write):
        speed(dialogues, [int(size) for size in options.sizes.split(",")], chance)


if __name__ == "__main__":
    main()
