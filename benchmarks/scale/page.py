"""The measured part of docs/results/scale.md, and its plot, from the results."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.common.pages import write_section
from benchmarks.common.paths import PAGES
from emoscope.evaluation.card import markdown_table

PLOT = "scale.svg"
AHEAD = (100_000_000, 10_000_000_000)
CORES = (2, 64, 1000)
PART, FILE = 50_000, 1_000_000  # rows of a part of a large run, and of the Parquet files it is taken to read
NAMES = {"pandas": "pandas + transformers pipeline", "ray-data": "Ray Data + transformers pipeline"}

Row = Mapping[str, Any]


def write_page(runs: Sequence[Row], peers: Sequence[Row], limits: Row) -> None:
    """Write the measured section and the plot."""
    if not runs:
        raise SystemExit("nothing was measured yet: python -m benchmarks.scale measure")
    sections = [_head(runs), _runs(runs), _efficiency(runs), _peers(runs, peers)]
    if limits:
        sections += [_ahead(runs, peers, limits), _first(runs, limits), _threads(limits)]
        sections += [_repeats(limits), _limit(runs, limits)]
    write_section(PAGES / "scale.md", "score", "\n\n".join(section for section in sections if section))
    _plot(runs)


def _head(runs: Sequence[Row]) -> str:
    others = max(run["others"] for run in runs)
    busy = f" **Provisional: other work took up to {others:.0%} of the machine.**" if others > 0.05 else ""
    return (
        f"Machine: {runs[-1]['machine']}.{busy} Rows are dialogues "
        "of three short turns, drawn turn by turn from EmoContext's training set so that hardly any occurs twice, in "
        "one Parquet file. Seconds are those of the whole command, from its start to the manifest; memory is the most "
        f"that all its processes held together, pages they share counted once.\n\n![Rows a second and memory]({PLOT})"
    )


def _runs(runs: Sequence[Row]) -> str:
    rows = [
        [
            f"`{r['model']}`",
            r["engine"],
            str(r["workers"]),
            f"{r['rows']:,}",
            f"{r['seconds']:,.1f}",
            f"{r['rate']:,.0f}",
            f"{r['peak']:,} MB",
        ]
        for r in sorted(runs, key=lambda r: (r["model"], r["engine"], r["workers"], r["rows"]))
    ]
    return markdown_table(
        ["model", "engine", "workers", "rows", "seconds", "rows a second", "peak memory"], rows, left=2
    )


def _efficiency(runs: Sequence[Row]) -> str:
    rows = []
    for one in runs:
        for two in runs:
            same = all(one[key] == two[key] for key in ("model", "engine", "rows"))
            if same and (one["workers"], two["workers"]) == (1, 2):
                gain = two["rate"] / one["rate"]
                rows.append([f"`{one['model']}`", one["engine"], f"{one['rows']:,}", f"{gain:.2f}", f"{gain / 2:.0%}"])
    if not rows:
        return ""
    return "### From one worker to two\n\n" + markdown_table(
        ["model", "engine", "rows", "times as fast", "efficiency"], rows, left=2
    )


def _peers(runs: Sequence[Row], peers: Sequence[Row]) -> str:
    if not peers:
        return ""
    best = {model: max((r["rate"] for r in runs if r["model"] == model), default=0.0) for model in ("nano", "default")}
    rows = []
    for peer in peers:
        workers = str(peer["workers"] or "torch's threads")
        ahead = [f"{best[model] / peer['rate']:,.0f}" if best[model] else "-" for model in ("nano", "default")]
        rows.append(
            [NAMES[peer["kind"]], workers, f"{peer['rows']:,}", f"{peer['rate']:,.1f}", f"{peer['peak']:,} MB", *ahead]
        )
    heads = ["what users would write", "workers", "rows", "rows a second", "peak memory", "`nano` is", "`default` is"]
    return (
        "### Beside it\n\nA `text-classification` pipeline with a model of distilroberta's size and random weights, on "
        "the same rows, whole command. pandas holds all rows in memory, so its memory grows with them. The last "
        "columns say how many times as fast the best run above is.\n\n" + markdown_table(heads, rows)
    )


def _per_core(runs: Sequence[Row], model: str) -> float | None:
    """Rows a second of a core in the largest local run with most workers."""
    chosen = [r for r in runs if r["model"] == model and r["engine"] == "local"]
    best = max(chosen, key=lambda r: (r["rows"], r["workers"]), default=None)
    return None if best is None else best["rate"] / best["workers"]


def _ahead(runs: Sequence[Row], peers: Sequence[Row], limits: Row) -> str:
    rates = {f"`{model}`": rate for model in ("nano", "default") if (rate := _per_core(runs, model))}
    cluster = [peer for peer in peers if peer["kind"] == "ray-data"]
    if cluster:
        best = max(cluster, key=lambda r: r["workers"])
        rates[NAMES["ray-data"]] = best["rate"] / best["workers"]
    rows = [
        [name, f"{count:,}", f"{count / rate / 3600:,.0f}"]
        + [f"{count / rate / 3600 / cores:,.1f}" for cores in CORES]
        + [f"{count * limits['serial']['bytes a row'] / 1e9:,.0f} GB"]
        for name, rate in rates.items()
        for count in AHEAD
    ]
    heads = ["model", "dialogues", "core hours", *(f"hours on {cores:,} cores" for cores in CORES), "output"]
    return (
        "### 100 million and 10 billion\n\nReckoned from the rows a second of a core in the largest local run above, "
        "if every core does as well and rows are as short.\n\n" + markdown_table(heads, rows)
    )


def _first(runs: Sequence[Row], limits: Row) -> str:
    found = limits["serial"]
    count = AHEAD[-1]
    gather = count / PART / found["parts gathered"]
    plans = {
        "one JSONL file": count / found["JSONL rows"],
        "one CSV file": count / found["CSV rows"],
        f"Parquet files of {FILE:,} rows": count / FILE / found["Parquet files"],
    }
    rows = []
    for name, seconds in plans.items():
        alone = seconds + gather
        cells = [name, f"{seconds / 3600:,.2f}", f"{gather / 3600:,.2f}"]
        for model in ("nano", "default"):
            rate = _per_core(runs, model)
            cells.append("-" if rate is None else f"{count / rate / alone:,.0f}")
        rows.append(cells)
    heads = ["input", "hours to look through, one core", "hours to gather", "`nano`: cores", "`default`: cores"]
    return (
        f"### What gives way first\n\nThe process that starts a run looks through the input before, and gathers the "
        f"parts' counts after; everything else is done by workers that share nothing. On one core it looks "
        f"through {found['JSONL rows']:,.0f} JSONL rows (which all its machine's cores share) or "
        f"{found['CSV rows']:,.0f} CSV rows a second, opens {found['Parquet files']:,.0f} Parquet files, and gathers "
        f"{found['parts gathered']:,.0f} parts. For {count:,} "
        f"rows in parts of {PART:,}, the last columns are the number of cores from which on that process, not the "
        "workers, takes most of the time:\n\n"
        + markdown_table(heads, rows)
        + "\n\nSo text gives way first: give Parquet, whose "
        "rows need not be looked through. The next limits are outside: what the storage can read and write, and with "
        "Ray the memory of the node that keeps track of the tasks."
    )


def _threads(limits: Row) -> str:
    found = limits["side by side"]
    heads = list(next(iter(found.values())))
    rows = [[f"`{model}`", *(f"{each[head]:,.0f}" for head in heads)] for model, each in found.items()]
    return "### Threads or processes\n\nDialogues a second of the model alone:\n\n" + markdown_table(
        ["model", *heads], rows
    )


def _repeats(limits: Row) -> str:
    rows = [
        [name, f"{each['items']:,}", f"{each['anywhere']:.1%}", f"{each['in a chunk']:.1%}"]
        for name, each in limits["repeats"].items()
    ]
    gains = "; ".join(
        f"`{model}` {each['once']:,.0f} a second, not {each['each']:,.0f} ({each['once'] / each['each'] - 1:+.1%})"
        for model, each in limits["cache"].items()
    )
    return (
        "### Repeats\n\nThe share of items that had occurred before, anywhere in the data, or among the 4,096 rows "
        "that are read together:\n\n"
        + markdown_table(["", "items", "anywhere", "read together"], rows)
        + f"\n\nWhat is read together is answered once. On EmoContext's three turns, one core: {gains}."
    )


def _limit(runs: Sequence[Row], limits: Row) -> str:
    if "stages" not in limits:
        return ""
    found = dict(limits["stages"])
    pieces = found.pop("pieces")
    total = sum(found.values())
    rows = [[name, f"{spent:,.0f}", f"{spent / total:.1%}"] for name, spent in found.items()]
    possible = limits["int8"] / limits["operations"]
    network = 1e6 / found["the network"]
    text = (
        "### Where the time of `default` goes\n\nMicroseconds of one core for a dialogue:\n\n"
        + markdown_table(["", "µs", "share"], rows)
        + "\n\n### The machine's limit\n\n"
        + f"A dialogue of {pieces:.0f} pieces needs {limits['operations'] / 1e9:.2f} billion operations in `default`'s "
        f"matrix products. A plain product of bytes, of the size of its widest layer, does {limits['int8'] / 1e9:,.0f} "
        f"billion a second on one core, which would be {possible:,.0f} dialogues. The network alone does "
        f"{network:,.0f} ({network / possible:.0%}), all steps together {1e6 / total:,.0f} "
        f"({1e6 / total / possible:.0%})"
    )
    rate = _per_core(runs, "default")
    return text + (f", a whole run {rate:,.0f} a core ({rate / possible:.0%})." if rate else ".")


def _plot(runs: Sequence[Row]) -> None:
    from emoscope.core.plots import altair, rows, save, titled

    alt = altair()
    data = [{**run, "run": f"{run['model']}, {run['engine']}, workers: {run['workers']}"} for run in runs]
    base = alt.Chart(rows(data)).mark_line(point=True)
    shown = [
        base.encode(
            x=alt.X("rows:Q", scale=alt.Scale(type="log"), title="rows"),
            y=alt.Y(f"{value}:Q", scale=alt.Scale(type=scale), title=title),
            color=alt.Color("run:N"),
        ).properties(width=330, height=260)
        for value, title, scale in (("rate", "rows a second", "log"), ("peak", "peak memory, MB", "linear"))
    ]
    chart = titled(alt.hconcat(*shown), "emoscope score", "Whole command, by the number of rows")
    save(chart, PAGES / PLOT)
