"""Measure the embedded `nano` model and write docs/results/nano.md.

    python -m benchmarks.quality.nano --data DATA

Quality on EmoContext's development set; speed beside the pipeline most people would write, scikit-learn's TF-IDF with
logistic regression, on the same dialogues in the same run.
"""

import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import emoscope
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PACKAGE, PAGES
from benchmarks.common.timing import seconds
from benchmarks.quality.measure import calibration_error
from emoscope.core.dialogue import Example
from emoscope.core.metrics import confusion_matrix
from emoscope.core.significance import bootstrap_interval
from emoscope.evaluation.ranking import place
from emoscope.models.linear.ngram_block import WINDOW, spaced_tokens
from emoscope.runs.train import official_score
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.published import published

PAGE = PAGES / "nano.md"
_detector: emoscope.Detector


def quality(root: Path) -> list[str]:
    task, dev = get_task("emocontext"), read_split(get_task("emocontext"), "dev", root)
    gold = [str(example.label) for example in dev]
    lines = ["| decision | micro-F1 | 95 % interval | accuracy | ECE |", "|---|---|---|---|---|"]
    rows = (
        ("natural prior, optimised for the metric (`predict`)", emoscope.load("nano", for_metric=True)),
        ("natural prior, most probable label (`detect`)", emoscope.load("nano")),
        ("training prior", emoscope.load("nano", prior=training_prior(root))),
    )
    for number, (name, chosen) in enumerate(rows):
        answers = chosen.predict_proba(example.context for example in dev)
        predicted = [chosen.labels[best] for best in chosen.choose(answers)]
        score = official_score(task, dev, predicted)
        matrix = confusion_matrix(gold, predicted, task.labels)
        interval = bootstrap_interval(matrix, lambda stack: task.metric(stack, task.labels), seed=0)
        right = np.array([a == b for a, b in zip(gold, predicted, strict=True)])
        columns = np.array([chosen.labels.index(label) for label in gold])
        lines.append(
            f"| {name} | {score:.4f} | {interval.low:.4f} to {interval.high:.4f} | {right.mean():.4f} | "
            f"{calibration_error(answers, columns):.4f} |"
        )
        if number == 0:
            sentence = place(score, published("emocontext"), split="dev")
            note = f"{sentence.sentence} ({sentence.caveat})."
    return [*lines, "", note]


def training_prior(root: Path) -> dict[str, float]:
    labels = [str(example.label) for example in read_split(get_task("emocontext"), "train", root)]
    return {label: labels.count(label) / len(labels) for label in set(labels)}


def rate(work: Callable[[], int], repeats: int = 5) -> float:
    """Dialogues a second: the median of several runs after one to warm up."""
    done = work()
    return statistics.median(done / seconds(work) for _ in range(repeats))


def _start_worker() -> None:
    global _detector  # noqa: PLW0603 - one detector per worker process
    _detector = emoscope.load("nano")


def _label_chunk(dialogues: Sequence[tuple[str, ...]]) -> int:
    return sum(1 for _ in _detector.detect_many(dialogues))


def speed(root: Path) -> list[str]:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    train, dev = (read_split(get_task("emocontext"), split, root) for split in ("train", "test"))
    said = [example.dialogue.texts for example in dev]
    detector = emoscope.load("nano")
    one = rate(lambda: sum(1 for _ in detector.detect_many(said)))
    bulk = rate(lambda: len(detector.predict_proba(said)))
    with ProcessPoolExecutor(2, initializer=_start_worker) as pool:
        halves = [said[::2], said[1::2]]
        two = rate(lambda: sum(pool.map(_label_chunk, halves)))
    latencies = [1000 * seconds(partial(detector.detect, turns)) for turns in said[:2000]]
    peer_rate, peer_alone = peer(train, dev)
    cold = (
        "import time; begun = time.perf_counter(); import emoscope; "
        "emoscope.load('nano').detect(['hi']); print(time.perf_counter() - begun)"
    )
    starts = [
        float(subprocess.run([sys.executable, "-c", cold], capture_output=True, check=True).stdout) for _ in range(5)
    ]
    p50, p99 = np.percentile(latencies, [50, 99])
    return [
        "| | nano | scikit-learn TF-IDF + logistic regression | ratio |",
        "|---|---|---|---|",
        f"| throughput, one process, `detect_many` (dialogues/s) | {one:,.0f} | | |",
        f"| throughput, one process, probabilities (dialogues/s) | {bulk:,.0f} | {peer_rate:,.0f} "
        f"| {bulk / peer_rate:.1f} |",
        f"| throughput, two processes, `detect_many` (dialogues/s) | {two:,.0f} | | |",
        f"| latency, p50 | {p50:.3f} ms | {peer_alone:.3f} ms | {peer_alone / p50:.1f} |",
        f"| latency, p99 | {p99:.3f} ms | | |",
        f"| cold start | {statistics.median(starts) * 1000:,.0f} ms | | |",
    ]


def peer(train: Sequence[Example], dev: Sequence[Example]) -> tuple[float, float]:
    """Throughput and single latency of a usual pipeline over the same n-grams."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline, make_union

    def joined(examples: Sequence[Example]) -> list[str]:
        return [" <eos> ".join(map(spaced_tokens, example.dialogue.texts[: -WINDOW - 1 : -1])) for example in examples]

    words = TfidfVectorizer(ngram_range=(1, 2))
    characters = TfidfVectorizer(analyzer="char", ngram_range=(2, 5), max_features=200_000)
    pipeline = make_pipeline(make_union(words, characters), LogisticRegression(C=10, max_iter=20, tol=1e-1))
    pipeline.fit(joined(train[:10_000]), [example.label for example in train[:10_000]])
    texts = joined(dev)
    throughput = rate(lambda: len(pipeline.predict_proba(texts)), repeats=3)
    alone = [1000 * seconds(partial(pipeline.predict_proba, [text])) for text in texts[:200]]
    return throughput, statistics.median(alone)


def main() -> None:
    parser = command_line(__doc__, "data")
    root = parser.parse_args().data
    size = sum(file.stat().st_size for file in (PACKAGE / "detector" / "assets" / "nano").iterdir())
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, numpy {np.__version__}"
    )
    sections = {
        "machine": f"Machine: {machine}. Size: {size / 1024:,.0f} KiB.",
        "quality": "\n".join(quality(root)),
        "speed": "\n".join(speed(root)),
    }
    for name, text in sections.items():
        write_section(PAGE, name, text)
        print(f"{text}\n")


if __name__ == "__main__":
    main()
