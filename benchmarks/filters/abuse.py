"""The filters of abuse and of sensitive topics together, on sentences of ours and on angry dialogues.

A line of the set is + for one to drop or - for one that must pass, a tab, and the sentence. Slurs are [[in ROT13]].
"""

import codecs
from pathlib import Path
from typing import Any

from benchmarks.common.pages import printed_section
from benchmarks.filters.sensitive import CODED, LABELS
from benchmarks.filters.sets import lines_of
from emoscope.corpus.filters.offensive import OffensiveFilter, abuse_scores
from emoscope.corpus.filters.sensitive import SensitiveFilter, topics_of
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

ABUSE_PARTS = (
    "tuned",
    "fresh",
)  # both by the author of the patterns: `fresh` was written before them, but is not blind


def count_abuse(part: str) -> dict[str, int]:
    counts = {"to_drop": 0, "dropped": 0, "to_pass": 0, "stopped": 0}
    for line in lines_of("abuse", part):
        sign, _, coded = line.partition("\t")
        text = CODED.sub(lambda match: codecs.decode(match[1], "rot13"), coded)
        found = bool(abuse_scores([text])[0] or topics_of(text))
        total, hit = ("to_drop", "dropped") if sign == "+" else ("to_pass", "stopped")
        counts[total] += 1
        counts[hit] += found
    return counts


def share_of_chats(data: Path) -> dict[str, tuple[float, float, float]]:
    """Of each emotion of EmoContext's first 10,000 dialogues: dropped for abuse, for a topic, for either."""
    examples = read_split(get_task("emocontext"), "train", data)[:10_000]
    dialogues = [example.dialogue for example in examples]
    abuse = [review.reason is not None for review in OffensiveFilter().review(dialogues)]
    topics = [review.reason is not None for review in SensitiveFilter().review(dialogues)]
    shares = {}
    for label in LABELS:
        mine = [place for place, example in enumerate(examples) if example.label == label]
        either = sum(abuse[place] or topics[place] for place in mine)
        counts = (sum(abuse[place] for place in mine), sum(topics[place] for place in mine), either)
        shares[label] = (counts[0] / len(mine), counts[1] / len(mine), counts[2] / len(mine))
    return shares


def measure_abuse(data: Path, write: bool) -> dict[str, Any]:
    counted = {part: count_abuse(part) for part in ABUSE_PARTS}
    shares = share_of_chats(data)
    with printed_section("filters", "abuse", write=write):
        print("| sentences | abusive | dropped | harmless | dropped |\n|---" + "|---:" * 4 + "|")
        for part, one in counted.items():
            print(f"| {part} | {one['to_drop']} | {one['dropped']} | {one['to_pass']} | {one['stopped']} |")
        print(
            "\n| EmoContext train, dropped by default | abuse | sensitive topics | either |\n|---" + "|---:" * 3 + "|"
        )
        for label, row in shares.items():
            print(f"| {label} | " + " | ".join(f"{share:.1%}" for share in row) + " |")
    print()
    return {
        "set": "benchmarks/filter_sets, abuse, fresh; with the filter of sensitive topics",
        "items": counted["fresh"]["to_drop"] + counted["fresh"]["to_pass"],
        **counted["fresh"],
        "angry_dialogues_dropped": round(shares["angry"][2], 4),
    }
