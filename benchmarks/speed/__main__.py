"""Measure how fast the models are and write docs/results/speed.md.

    python -m benchmarks.speed --data DATA [--model FOLDER] [--busy]

On the same dialogues: `nano`, `default`, the network of `default` in torch, and the usual alternative, a `transformers`
text-classification pipeline with a model of distilroberta's size. The last two have random weights, which are as fast
as trained ones. Each runs in its own process; they are measured in several interleaved rounds. The figures of our
models are written to benchmarks/results/speed.csv, which the model cards quote.

On a busy machine the figures are wrong, and not to the same degree: torch's threads wait for each other, so the
pipeline loses far more than we do. The other load is measured too, and figures of a busy machine are not written;
`--busy` prints them all the same.
"""

import random
import statistics
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path
from typing import NamedTuple

from benchmarks.common.emocontext import emocontext_turns
from benchmarks.common.machine import BUSY, machine, require_quiet, taken_by_others
from benchmarks.common.memory import MB
from benchmarks.common.options import command_line
from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES, RESULTS, ROOT
from benchmarks.common.processes import Worker
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from benchmarks.speed.worker import KINDS, Turns, cold_starts, write_models

PAGE = PAGES / "speed.md"
ROUNDS = 5
SECONDS = 1.0  # how long one measurement takes, about
ALONE = 100  # dialogues answered one by one for the latency, in each round
CORE = "emoscope"
PEER_PACKAGES = ("torch", "transformers")


class Figures(NamedTuple):
    """What was found for one model."""

    title: str
    rates: dict[int, float]  # batch size to dialogues a second
    p50: float  # seconds for one dialogue
    p99: float
    cold: float
    peak: float
    model: float
    packages: float

    @property
    def best(self) -> int:
        """The size of batches with which it answers most."""
        return max(self.rates, key=lambda batch: self.rates[batch])


def measure(folders: Mapping[str, Path], dialogues: Sequence[Turns]) -> tuple[dict[str, Figures], float]:
    """What was found for each model, and how much of the machine others took between the measurements."""
    workers = {name: Worker("benchmarks.speed.worker", name, folder) for name, folder in folders.items()}
    rates: dict[str, dict[int, list[float]]] = {name: {b: [] for b in KINDS[name].batches} for name in folders}
    alone: dict[str, list[float]] = {name: [] for name in folders}
    cold: dict[str, list[float]] = {name: [] for name in folders}
    peaks: dict[str, float] = {}
    counts = {name: _counts(worker, KINDS[name].batches, dialogues) for name, worker in workers.items()}
    others = []
    for number in range(ROUNDS):
        print(f"round {number + 1} of {ROUNDS}", file=sys.stderr)
        others.append(taken_by_others())
        for name, worker in workers.items():
            for batch, count in counts[name].items():
                found = worker.ask(dialogues=dialogues[:count], batch=batch, alone=False)
                rates[name][batch].append(count / found["times"][0])
                peaks[name] = found["peak"]
            alone[name] += worker.ask(dialogues=dialogues[:ALONE], alone=True)["times"]
            cold[name] += cold_starts(name, folders[name], dialogues[number], 1)
    others.append(taken_by_others())
    for worker in workers.values():
        worker.close()
    found = {
        name: Figures(
            KINDS[name].title,
            {batch: statistics.median(found) for batch, found in rates[name].items()},
            quantile(alone[name], 0.5),
            quantile(alone[name], 0.99),
            statistics.median(cold[name]),
            peaks[name],
            _model_size(folder),
            installed_size([CORE] if name in ("nano", "default") else PEER_PACKAGES),
        )
        for name, folder in folders.items()
    }
    return found, max(others)


def _counts(worker: Worker, batches: Iterable[int], dialogues: Sequence[Turns]) -> dict[int, int]:
    """How many dialogues take about a second, for each size of batches."""
    made = {}
    for batch in batches:
        count = max(batch, 8)
        while True:
            worker.ask(dialogues=dialogues[:count], batch=batch, alone=False)
            seconds = worker.ask(dialogues=dialogues[:count], batch=batch, alone=False)["times"][0]
            if seconds >= SECONDS / 4 or count == len(dialogues):
                break
            count = min(len(dialogues), 2 * count)
        made[batch] = min(len(dialogues), max(batch, int(count * SECONDS / seconds) // batch * batch))
    return made


def quantile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def _model_size(folder: Path) -> float:
    from emoscope.detector.bundle import resolve

    path = folder if folder.is_dir() else resolve(folder.name)
    files = (file for file in path.rglob("*") if file.is_file() and not file.name.startswith("card."))
    return sum(file.stat().st_size for file in files) / MB


def installed_size(packages: Iterable[str]) -> float:
    """Megabytes of packages and all they need, as they lie in this environment."""
    from packaging.requirements import Requirement

    seen: dict[str, float] = {}
    left = list(packages)
    while left:
        name = left.pop().lower().replace("_", "-")
        if name in seen:
            continue
        if name == CORE:
            wanted = core_requirements()
            seen[name] = sum(f.stat().st_size for f in (ROOT / "src").rglob("*") if f.suffix != ".pyc" and f.is_file())
        else:
            try:
                files = distribution(name).files or ()
            except PackageNotFoundError:
                continue
            seen[name] = sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file())
            wanted = requires(name) or []
        parsed = [Requirement(text) for text in wanted]
        left += [r.name for r in parsed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return sum(seen.values()) / MB


def core_requirements() -> list[str]:
    import tomllib

    content = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return list(content["project"]["dependencies"])


# Writing


def section(figures: Mapping[str, Figures], where: str, count: int, pieces: float) -> str:
    peer, ours = figures["peer"], figures["default"]
    rows = [
        ("throughput, one at a time (dialogues/s)", [f"{each.rates[1]:,.0f}" for each in figures.values()]),
        (
            "throughput, best batch (dialogues/s)",
            [f"{each.rates[each.best]:,.0f} (batch {each.best})" for each in figures.values()],
        ),
        ("latency, p50", [f"{each.p50 * 1000:.2f} ms" for each in figures.values()]),
        ("latency, p99", [f"{each.p99 * 1000:.2f} ms" for each in figures.values()]),
        ("cold start: process to first answer", [f"{each.cold:.2f} s" for each in figures.values()]),
        ("peak memory", [f"{each.peak:,.0f} MB" for each in figures.values()]),
        ("model size", [f"{each.model:,.1f} MB" for each in figures.values()]),
        ("installed packages", [f"{each.packages:,.0f} MB" for each in figures.values()]),
    ]
    lines = [
        f"{count:,} dialogues of EmoContext's dev set: three short turns each, {pieces:.0f} tokens on average. "
        f"Machine: {where}. Each model runs in its own process; medians of {ROUNDS} interleaved rounds.",
        "",
        "| | " + " | ".join(each.title for each in figures.values()) + " |",
        "|---|" + "---:|" * len(figures),
        *(f"| {name} | " + " | ".join(cells) + " |" for name, cells in rows),
        "",
        "The `transformers` text-classification pipeline has a model of the size of distilroberta (82 million "
        "parameters, random weights, the same tokenizer). Compared with it, `default` has",
        "",
        f"- **{ours.rates[1] / peer.rates[1]:.1f} times** the throughput, one dialogue at a time;",
        f"- **{ours.rates[ours.best] / peer.rates[peer.best]:.1f} times** the throughput, both with their best batch;",
        f"- **{ours.rates[ours.best] / peer.rates[1]:.1f} times** the throughput, if only `default` gets batches;",
        f"- a cold start of {ours.cold:.2f} s instead of {peer.cold:.2f} s, and {ours.peak:,.0f} MB of memory instead "
        f"of {peer.peak:,.0f} MB.",
    ]
    return "\n".join(lines)


def save(measured: Mapping[str, Figures], where: str) -> None:
    """The figures for the model cards."""
    rows = []
    for name in ("nano", "default"):
        each = measured[name]
        figures = [
            ("throughput, best batch", each.rates[each.best], "dialogues/s"),
            ("throughput, one at a time", each.rates[1], "dialogues/s"),
            ("latency, p50", each.p50 * 1000, "ms"),
            ("latency, p99", each.p99 * 1000, "ms"),
            ("cold start: process to first answer", each.cold, "s"),
            ("peak memory", each.peak, "MB"),
        ]
        rows += [
            {"model": name, "figure": title, "value": float(f"{value:.6g}"), "unit": unit, "machine": where}
            for title, value, unit in figures
        ]
    write_rows(RESULTS / "speed.csv", rows)
    keep(RESULTS / "speed.csv", made(note="each row has its machine; nothing is random"))


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("--model", type=Path, default=Path("default"), help="a bundle to measure as `default`")
    parser.add_argument("--busy", action="store_true", help="measure on a busy machine, and write nothing")
    options = parser.parse_args()
    from emoscope.detector.bundle import Bundle, resolve
    from emoscope.detector.model import BLOCK

    bundle = resolve(options.model)
    if Bundle.load(bundle).name == "nano":
        raise SystemExit("there is no embedded `default`; give a bundle with --model FOLDER")
    require_quiet(busy_allowed=options.busy)
    dialogues = emocontext_turns(options.data, "dev")
    random.Random(0).shuffle(dialogues)
    with tempfile.TemporaryDirectory() as folder:
        models = write_models(Path(folder), bundle / BLOCK / "tokenizer.json")
        found, others = measure({"nano": Path("nano"), "default": bundle, **models}, dialogues)
    where = f"{machine()}; other load at most {others:.0%}"
    text = section(found, where, len(dialogues), mean_pieces(bundle, dialogues))
    print(text)
    if others > BUSY:
        raise SystemExit(f"not written: other work took {others:.0%} of the machine, so these figures are wrong")
    save(found, where)
    write_section(PAGE, "speed", text)


def mean_pieces(bundle: Path, dialogues: Sequence[Turns]) -> float:
    from emoscope.core.dialogue import Dialogue, Example
    from emoscope.detector.model import BLOCK
    from emoscope.models.onnx.description import TOKENIZER, Description
    from emoscope.models.text.tokenizer import Tokenizer

    folder = bundle / BLOCK
    layout = Description.load(folder).layout
    pieces = Tokenizer.read((folder / TOKENIZER).read_text(encoding="utf-8"), **layout.special)
    examples = [Example.last(Dialogue.of(dialogue)) for dialogue in dialogues]
    return statistics.mean(len(row.token_ids) for row in layout.window.rows(examples, pieces))


if __name__ == "__main__":
    main()
