"""The section of docs/results/speed.md that `benchmarks.speed.optimisation` writes."""

from collections.abc import Mapping
from typing import Any

from emoscope.evaluation.card import markdown_table

NOISE = "the same again"
KEPT = "as it is"
PRODUCTS = "MatMulIntegerToFloat"
# Which of the graphs would need a network trained for it, or cost precision.
TRADES = {
    "outliers not moved into the weights": "less exact",
    "a fixed step for the widest layer too": "less exact: see above",
    "ReLU, not GELU": "a network trained for it",
    "a middle of 1,536, as its encoder had": "what `default` was before",
    "a middle of 768": "a network trained for it",
    "four layers": "a network trained for it",
    "three layers": "a network trained for it",
}


def section(found: Mapping[str, Any]) -> str:
    """The section's text."""
    busy = found["others"]
    lines = [
        f"{found['dialogues']:,} dialogues. Machine: {found['machine']}."
        + (
            f" **Other work took {busy:.0%} of it**, so figures by the clock are provisional, and all are too slow."
            if busy > 0.05
            else ""
        )
        + " Each line is measured against the state without it, in turns. The same graph measured twice under two "
        f"names gives a ratio of {found['graph'][NOISE]:.2f} and {found['session'][NOISE]:.2f}: what is nearer to 1 "
        "than that is no difference.",
        "",
        *_limit(found),
        "",
        *_steps(found),
        "",
        *_tried(found),
        "",
        *_memory(found["memory"]),
    ]
    return "\n".join(lines)


def _limit(found: Mapping[str, Any]) -> list[str]:
    nodes, limit = found["nodes"], found["limit"]
    total = sum(nodes.values())
    small = sum(spent for spent in nodes.values() if spent < 0.02 * total)
    rows = [[f"`{kind}`", f"{spent:,.0f}", f"{spent / total:.0%}"] for kind, spent in nodes.items()]
    rows = [row for row, spent in zip(rows, nodes.values(), strict=True) if spent >= 0.02 * total]
    rows.append(["all others", f"{small:,.0f}", f"{small / total:.0%}"])
    possible = limit["one core"] / limit["operations"]
    products = limit["operations"] / (nodes[PRODUCTS] / 1e6)
    return [
        "### Where the network's time goes, and the machine's limit",
        "",
        "Microseconds of one core for a dialogue, by kind of node and by the clock:",
        "",
        markdown_table(["node", "µs", "share"], rows),
        "",
        f"A dialogue has {limit['pieces']:.0f} tokens and needs {limit['operations'] / 1e9:.2f} billion operations in "
        f"the layers' products of bytes. A plain product of the widest layer's size does "
        f"{limit['one core'] / 1e9:,.0f} billion a second on one core ({limit['all cores'] / 1e9:,.0f} on all cores at "
        f"once): {possible:,.0f} dialogues a second of a core, if nothing but products had to be done. The products of "
        f"the graph run at {products / limit['one core']:.0%} of that, because their sums are made floating-point "
        f"numbers and most batches are smaller; the whole network at {1e6 / total / possible:.0%}.",
    ]


def _steps(found: Mapping[str, Any]) -> list[str]:
    rows = [
        [name, f"{each['before']:,.0f}", f"{each['after']:,.0f}", f"{each['before'] - each['after']:+,.0f}"]
        for name, each in found["steps"].items()
    ]
    return [
        "### Steps that were kept",
        "",
        "Microseconds a dialogue, before and after:",
        "",
        markdown_table(["step", "before", "after", "gained"], rows),
    ]


def _tried(found: Mapping[str, Any]) -> list[str]:
    rows = [
        [name, f"{ratio:.2f}", TRADES.get(name, "no gain")]
        for name, ratio in found["graph"].items()
        if name not in (KEPT, NOISE)
    ]
    for name in ("session", "threads"):
        rows += [[each, f"{ratio:.2f}", "no gain"] for each, ratio in list(found[name].items())[1:] if each != NOISE]
    sizes = ", ".join(f"{spent:,} µs with {size}" for size, spent in found["at once"].items())
    return [
        "### What was not kept",
        "",
        "How many times as fast the whole network is with it (above 1 is faster):",
        "",
        markdown_table(["change", "times as fast", "why not, or what it needs"], rows),
        "",
        f"Pieces computed at once: {sizes} a dialogue. Dialogues of different lengths in one table, cut apart for "
        "attention alone, would need four more copies in each layer; batches of one length lose little once a thousand "
        "dialogues are given together.",
    ]


def _memory(found: Mapping[str, float]) -> list[str]:
    return [
        "### Weights of several processes",
        "",
        f"Two processes with a model hold {found['held']:,.0f} MB each; {found['shared']:,.0f} MB of it is in memory "
        f"once for both (libraries, and {found['weights mapped']:,.0f} MB of the weights' file, which is mapped), "
        f"{found['own']:,.0f} MB belongs to each. onnxruntime puts tables for its products in an order of its own when "
        "a model is loaded; processes cannot share these, threads do.",
    ]
