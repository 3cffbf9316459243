"""Measure mining in rounds on two domains: candidates are judged and join the seeds of the next round.

    python -m benchmarks.mining.rounds run --data DATA [--domains EmoContext] [--encoders ngrams,open] [--draws 3]
    python -m benchmarks.mining.rounds render

The labels of the data are the judgements. A pool has 4 % of each of three emotions and 88 % without; 300 seeds of each
class, and as many without emotion, are drawn from other data. In each round the best candidates of each class are
judged and join the seeds, as with `emoscope corpus mine --judged`. The factor is the share of emotional dialogues among
all judged ones, divided by their share in the pool; 8.3 is the maximum. EmoContext's seeds and pool are halves of its
training file. GoEmotions' pool is its dev and test files, its seeds are from the training file; `open` was trained on
that training file, and on nothing of EmoContext. Draw 1, on which the weights of joined embedders were chosen, is not
among those measured.
"""

import argparse
import statistics
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_rows, replace_row
from emoscope.core.dialogue import Dialogue, Example
from emoscope.corpus.mining.embedder import Embedder, open_embedder
from emoscope.corpus.mining.judged import with_judged
from emoscope.corpus.mining.mine import CANDIDATES, OTHERS, MiningSettings, mine
from emoscope.tables import open_writer, read_records
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.readers import read_goemotions

SEEDS, NATURAL, ROUNDS = 300, 0.04, 4
FIRST_DRAW = 2  # the weights of joined embedders were chosen on draw 1
POOL_OTHERS = 3000  # dialogues without emotion in a pool, so that it is mined in seconds
TABLE = RESULTS / "mining_rounds.csv"
Labelled = Sequence[tuple[Dialogue, str]]


def emocontext(data: Path) -> tuple[Labelled, Labelled]:
    """What seeds are drawn from, and what pools are: halves of the training file."""
    examples: Sequence[Example] = read_split(get_task("emocontext"), "train", data)
    rows = [(example.dialogue, str(example.label)) for example in examples]
    return rows[::2], rows[1::2]


def goemotions(data: Path) -> tuple[Labelled, Labelled]:
    """The training comments, and those of dev and test; joy, sadness and anger, and neutral for the others."""
    names = {"joy": "happy", "sadness": "sad", "anger": "angry", "neutral": OTHERS}
    folder = data / "auxiliary" / "goemotions" / "ekman"

    def read(*splits: str) -> Labelled:
        texts = (pair for split in splits for pair in read_goemotions(folder, split))
        return [(Dialogue.of([text]), names[label]) for text, label in texts if label in names]

    return read("train"), read("dev", "test")


DOMAINS = {"EmoContext": emocontext, "GoEmotions": goemotions}


def drawn(rows: Labelled, sizes: Mapping[str, int], seed: int) -> dict[str, list[Dialogue]]:
    """So many dialogues of each label, at random."""
    order = np.random.default_rng(seed).permutation(len(rows))
    found: dict[str, list[Dialogue]] = {label: [] for label in sizes}
    for number in order.tolist():
        dialogue, label = rows[number]
        if label in found and len(found[label]) < sizes[label]:
            found[label].append(dialogue)
    return found


def loop(
    source: Labelled, pool_rows: Labelled, embedder: Embedder, seed: int, folder: Path
) -> list[tuple[float, float]]:
    """After each round: how many times fewer judgements than at random, and the share that is found."""
    emotions = ("angry", "happy", "sad")
    count = round(POOL_OTHERS * NATURAL / (1 - len(emotions) * NATURAL))
    seeds = drawn(source, dict.fromkeys((*emotions, OTHERS), SEEDS), seed)
    pool = drawn(pool_rows, {**dict.fromkeys(emotions, count), OTHERS: POOL_OTHERS}, seed)
    answers = {dialogue.texts: label for label, dialogues in pool.items() for dialogue in dialogues}
    path = folder / "pool.jsonl"
    with open_writer(str(path)) as writer:
        for dialogues in pool.values():
            for dialogue in dialogues:
                writer.write({"turns": list(dialogue.texts)})
    emotional = sum(label != OTHERS for label in answers.values())
    judged: Counter[str] = Counter()
    after = []
    for _ in range(ROUNDS):
        settings = MiningSettings(recall=0.99, per_class=round(count / 6), others=0)
        mine(str(path), seeds, folder / "mined", embedder, settings)
        found: dict[str, list[Dialogue]] = {}
        for record in read_records(str(folder / "mined" / CANDIDATES)):
            label = answers[record.dialogue.texts]
            judged[label] += 1
            found.setdefault(label, []).append(Dialogue.of(record.dialogue.texts))
        seeds = with_judged(seeds, found)
        hits = judged.total() - judged[OTHERS]
        after.append((hits / judged.total() / (emotional / len(answers)), hits / emotional))
    return after


def run(options: argparse.Namespace) -> None:
    """Measure, and add a row for each domain and encoder."""
    for domain in options.domains.split(","):
        source, pool_rows = DOMAINS[domain](options.data)
        for name in options.encoders.split(","):
            embedder = open_embedder(name)
            results = []
            seeds = list(range(FIRST_DRAW, FIRST_DRAW + options.draws))
            for seed in seeds:
                with tempfile.TemporaryDirectory() as folder:
                    results.append(loop(source, pool_rows, embedder, seed, Path(folder)))
            row = {"domain": domain, "encoder": Path(name).name, "draws": options.draws}
            for number in range(ROUNDS):
                factors, recalls = zip(*(one[number] for one in results), strict=True)
                row[f"round {number + 1}"] = round(statistics.mean(factors), 2)
                row[f"deviation {number + 1}"] = round(statistics.stdev(factors), 2)
                row[f"recall {number + 1}"] = round(statistics.mean(recalls), 3)
            print(row, flush=True)
            replace_row(TABLE, row, ("domain", "encoder"))
            files = [options.data / "emocontext" / "train.txt"]
            files += sorted((options.data / "auxiliary" / "goemotions" / "ekman").glob("*.tsv"))
            keep(TABLE, made(seeds, {"rounds": ROUNDS, "seeds": SEEDS}, files))


def render() -> None:
    """Write the table."""
    rows = read_rows(TABLE)
    numbers = range(1, ROUNDS + 1)
    heads = " | ".join(f"round {number}" for number in numbers)
    lines = [f"| domain | encoder | {heads} | recall after each |", f"|---|---|{'---:|' * (ROUNDS + 1)}"]
    for row in rows:
        cells = [f"{row[f'round {number}']:.1f} ± {row[f'deviation {number}']:.1f}" for number in numbers]
        recalls = ", ".join(f"{row[f'recall {number}']:.2f}" for number in numbers)
        lines.append(f"| {row['domain']} | {row['encoder']} | {' | '.join(cells)} | {recalls} |")
    write_section(PAGES / "mining.md", "rounds", "\n".join(lines))


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("what", choices=["run", "render"])
    parser.add_argument("--domains", default=",".join(DOMAINS))
    parser.add_argument("--encoders", default="ngrams,open")
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    run(options) if options.what == "run" else render()


if __name__ == "__main__":
    main()
