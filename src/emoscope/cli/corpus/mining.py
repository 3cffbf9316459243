"""`emoscope corpus seeds`, `mine` and `encoder`: find the dialogues of a pool that are worth judging."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.options import PoolArgument, PoolFormatOption, listed
from emoscope.cli.options import EngineOption, RayAddressOption, SeedOption, WorkersOption, chosen_executor
from emoscope.cli.output import console, progress, table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.core.extras import check_installed
from emoscope.core.files import atomic_folder, check_other_file, folder_size
from emoscope.corpus.mining.embedder import open_embedder
from emoscope.corpus.mining.judged import read_judged, with_judged
from emoscope.corpus.mining.mine import CANDIDATES, MiningSettings, mine, read_seeds
from emoscope.corpus.mining.pruning import PruneReason
from emoscope.corpus.mining.seeds import SEEDS, gather_seeds
from emoscope.corpus.sources.windows import sample
from emoscope.tables import read_records


def mine_cli(
    pool: PoolArgument,
    seeds: Annotated[
        Path,
        typer.Option(
            help="Table of labelled dialogues, about 300 per class; those labelled `others` are negative examples."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the candidates; vectors of an earlier run are reused.")
    ],
    judged: Annotated[
        list[Path] | None,
        typer.Option(
            help="Judgements from earlier rounds (task,worker,label; tasks are the pool's `id`), or candidates with a "
            "`label`: added to the seeds and not drawn again; repeatable."
        ),
    ] = None,
    recall: Annotated[
        float,
        typer.Option(
            min=0.01, max=1.0, help="Share of each emotion to find; sets each class's threshold from the seeds."
        ),
    ] = 0.5,
    threshold: Annotated[
        float | None,
        typer.Option(
            min=-1.0,
            max=1.0,
            help="Minimum cosine to a class's nearest seed instead, for all classes; trains no classifier.",
        ),
    ] = None,
    per_class: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of candidates per class; the best are kept.")
    ] = None,
    others: Annotated[
        int | None, typer.Option(min=0, help="Number of random dialogues to add; by default, as many as candidates.")
    ] = None,
    encoder: Annotated[
        str,
        typer.Option(
            help="`ngrams`, `open`, `default`, a folder from `emoscope corpus encoder`, or several joined: ngrams+open."
        ),
    ] = "ngrams",
    learn: Annotated[bool, typer.Option(help="Also train a linear classifier on the seeds.")] = True,
    prune: Annotated[
        bool, typer.Option(help="Drop candidates with opposite emoticons or sentiment, or much longer than the seeds.")
    ] = True,
    format: PoolFormatOption = None,
    seed: SeedOption = 1,
    engine: EngineOption = "local",
    ray_address: RayAddressOption = None,
    workers: WorkersOption = None,
) -> CommandResult:
    """Find dialogues similar to labelled ones, as EmoContext did, so that judges see more with emotion."""
    settings = MiningSettings(
        threshold=threshold, recall=recall, learn=learn, per_class=per_class, others=others, prune=prune, seed=seed
    )
    check_other_file(output / CANDIDATES, pool, seeds, *(judged or ()))
    executor = chosen_executor(engine, workers, ray_address)
    embedder = open_embedder(encoder)
    known = read_seeds(seeds)
    if judged:
        known = with_judged(known, read_judged(judged, pool, known, format))
    counts = mine(pool, known, output, embedder, settings, format=format, progress=progress, executor=executor)
    rows: list[list[object]] = [
        [escape(name), each.seeds, each.threshold, each.near, each.candidates] for name, each in counts.classes.items()
    ]
    rows.append(["others, at random", None, None, None, counts.others])
    columns = ["class", "seeds", "threshold", "near", "candidates"]
    dropped = [[reason.value, *(each.dropped[reason] for each in counts.classes.values())] for reason in PruneReason]
    parts: list[RenderableType] = [
        table(f"{counted(counts.read, 'dialogue')} read, candidates in {output / CANDIDATES}", columns, rows),
        table("Similar, but dropped", ["reason", *map(escape, counts.classes)], dropped),
    ]
    if not any(each.candidates for each in counts.classes.values()):
        similar = any(each.near for each in counts.classes.values())
        why = "all similar dialogues were judged already or dropped" if similar else "no dialogue is similar to a seed"
        change = "a higher --recall" if threshold is None else "a lower --threshold"
        parts.append(plain(f"no candidates: {why}; try {change}"))
    return CommandResult({**asdict(counts), "encoder": embedder.name, "seed": seed}, parts)


def seeds_cli(
    pool: PoolArgument,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for batches and seeds, new or from an earlier run.")
    ],
    judgements: Annotated[
        list[Path] | None,
        typer.Option(
            "--judgements", "-j", help="All judgements of the batches so far (task,worker,label); repeatable."
        ),
    ] = None,
    labels: Annotated[str | None, typer.Option(help="Classes to find.  \\[default: happy,sad,angry]")] = None,
    neutral: Annotated[str | None, typer.Option(help="Label for no emotion.  \\[default: others]")] = None,
    per_class: Annotated[int | None, typer.Option(min=2, help="Seeds per class.  \\[default: 300]")] = None,
    batch: Annotated[int | None, typer.Option(min=1, help="Dialogues in the first batch.  \\[default: 1000]")] = None,
    format: PoolFormatOption = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the random sample.  \\[default: 1]")] = None,
) -> CommandResult:
    """Collect seeds for `mine`: draw random batches to be judged until every class has enough."""
    classes = None if labels is None else tuple(listed(labels))
    asked = {"labels": classes, "neutral": neutral, "per_class": per_class, "batch": batch, "seed": seed}
    state = gather_seeds(pool, output, judgements or (), format=format, progress=progress, **asked)
    rows: list[list[object]] = [
        [escape(name), found, state.seeds.get(name, 0), state.missing.get(name)] for name, found in state.found.items()
    ]
    title = f"{state.judged:,} of {state.drawn:,} dialogues judged"
    parts: list[RenderableType] = [table(title, ["class", "found", "seeds", "missing"], rows)]
    if state.undecided:
        parts.append(f"{state.undecided:,} without an absolute majority")
    if state.done:
        mine_them = ["emoscope", "corpus", "mine", pool, "--seeds", str(output / SEEDS), "-o", "mined"]
        parts.append(plain(f"enough: {shlex.join(mine_them)}"))
    elif state.next_batch is not None:
        labelled = ["--labels", ",".join(state.found), "-o", "STUDY"]
        annotate = shlex.join(["emoscope", "corpus", "annotate", str(output / state.next_batch), *labelled])
        again = shlex.join(["emoscope", "corpus", "seeds", pool, "-o", str(output), "--judgements", "FILE"])
        parts.append(plain(f"have the batch judged: {annotate}; then, with all judgements so far: {again}"))
    else:
        parts.append(f"waiting for judgements of {counted(state.waiting, 'dialogue')} before another batch is drawn")
    return CommandResult({**asdict(state), "done": state.done, "folder": output}, parts)


def encoder_cli(
    encoder: Annotated[str, typer.Argument(help="A pretrained encoder: a folder, or a name on the Hugging Face hub.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="New folder for the encoder.")],
    dialogues: Annotated[
        str | None,
        typer.Option(
            help="Table of typical dialogues to calibrate 8-bit weights with: a quarter of the size, and faster."
        ),
    ] = None,
) -> CommandResult:
    """Export a pretrained sentence encoder, such as all-MiniLM-L6-v2, to run without torch."""
    from emoscope.runs.export import CALIBRATION, PACKAGES, REFERENCE

    check_installed(*PACKAGES, extra="train")
    from emoscope.models.export.vectors import export_vectors

    calibration = None
    if dialogues is not None:
        calibration = sample((record.dialogue for record in read_records(dialogues)), CALIBRATION, seed=1)
    with console(stderr=True).status(f"writing {encoder}"), atomic_folder(output) as part:
        export_vectors(encoder, part, reference=REFERENCE, calibration=calibration)
    size = folder_size(output)
    summary = f"{encoder}, {size / 1e6:,.1f} MB: {output}"
    return CommandResult({"encoder": encoder, "folder": output, "bytes": size}, summary)
