"""The section `score` of docs/results/scale.md and its plot, from the results."""

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
        f"Machine: {runs[-1]['machine']}.{busy} The input is one Parquet file of dialogues of three short turns, "
        "drawn turn by turn from EmoContext's training set so that hardly any repeats. Times are of the whole command; "
        f"peak memory is of all processes, with shared pages counted once.\n\n![Throughput and memory]({PLOT})"
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
    return markdown_table(["model", "engine", "workers", "rows", "seconds", "rows/s", "peak memory"], rows)


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
    return "### Two workers\n\n" + markdown_table(["model", "engine", "rows", "speedup", "efficiency"], rows)


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
    heads = ["tool", "workers", "rows", "rows/s", "peak memory", "speedup, `nano`", "speedup, `default`"]
    return (
        "### Other tools\n\nA `text-classification` pipeline with a model of distilroberta's size and random weights, "
        "on the same rows, whole command. pandas holds all rows in memory. The last columns are the speedup of our "
        "best run over it.\n\n" + markdown_table(heads, rows)
    )


def _per_core(runs: Sequence[Row], model: str) -> float | None:
    """Rows per second and core in the largest local run with most workers."""
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
        "### 100 million and 10 billion rows\n\nExtrapolated from the throughput per core of the largest local run "
        "above, for rows as short.\n\n" + markdown_table(heads, rows)
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
    heads = ["input", "planning, hours of one core", "gathering, hours", "cores, `nano`", "cores, `default`"]
    return (
        "### The bottleneck\n\nThe process that starts a run plans the input and gathers the parts' counts; the "
        f"workers do everything else and share nothing. Per second, one core plans {found['JSONL rows']:,.0f} JSONL "
        f"rows "
        f"(all cores of the machine help) or {found['CSV rows']:,.0f} CSV rows, opens {found['Parquet files']:,.0f} "
        f"Parquet files, and gathers {found['parts gathered']:,.0f} parts. The last columns say from how many cores on "
        f"that "
        f"process takes longer than the workers, for {count:,} rows in parts of {PART:,}:\n\n"
        + markdown_table(heads, rows)
        + "\n\nText is the first bottleneck, so use Parquet, whose rows need no planning. The next ones are the "
        "storage and, with Ray, the memory of the head node."
    )


def _threads(limits: Row) -> str:
    found = limits["side by side"]
    heads = list(next(iter(found.values())))
    rows = [[f"`{model}`", *(f"{each[head]:,.0f}" for head in heads)] for model, each in found.items()]
    return "### Threads or processes\n\nThroughput of the model alone, in dialogues/s:\n\n" + markdown_table(
        ["model", *heads], rows
    )


def _repeats(limits: Row) -> str:
    rows = [
        [name, f"{each['items']:,}", f"{each['anywhere']:.1%}", f"{each['in a chunk']:.1%}"]
        for name, each in limits["repeats"].items()
    ]
    gains = "; ".join(
        f"`{model}` {each['once']:,.0f} dialogues/s instead of {each['each']:,.0f} "
        f"({each['once'] / each['each'] - 1:+.1%})"
        for model, each in limits["cache"].items()
    )
    return (
        "### Repeated items\n\nThe share of items that occurred before in the data, or in the same chunk of 4,096 "
        "rows:\n\n"
        + markdown_table(["", "items", "in the data", "in the chunk"], rows)
        + f"\n\nItems that repeat within a chunk are scored once. On EmoContext's three turns, one core: {gains}."
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
        "### Where the time of `default` goes\n\nCPU time per dialogue:\n\n"
        + markdown_table(["", "µs", "share"], rows)
        + "\n\n### The hardware limit\n\n"
        + f"A dialogue of {pieces:.0f} tokens takes {limits['operations'] / 1e9:.2f} billion operations in the matrix "
        f"products of `default`. A plain 8-bit product of the size of its widest layer does "
        f"{limits['int8'] / 1e9:,.0f} billion per second on one core, enough for {possible:,.0f} dialogues/s. The "
        f"network alone reaches "
        f"{network:,.0f} ({network / possible:.0%}), all steps together {1e6 / total:,.0f} "
        f"({1e6 / total / possible:.0%})"
    )
    rate = _per_core(runs, "default")
    return text + (f", a whole run {rate:,.0f} per core ({rate / possible:.0%})." if rate else ".")


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
        for value, title, scale in (("rate", "rows/s", "log"), ("peak", "peak memory, MB", "linear"))
    ]
    chart = titled(alt.hconcat(*shown), "emoscope score", "Whole command, by the number of rows")
    save(chart, PAGES / PLOT)
