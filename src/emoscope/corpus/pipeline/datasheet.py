"""The step `datasheet`: turn the splits into a corpus with a manifest, a datasheet, the plan and checksums."""

import shutil
from collections.abc import Iterator

from emoscope import __version__
from emoscope.core.dialogue import Example
from emoscope.core.extras import check_installed
from emoscope.core.files import read_json, write_json
from emoscope.core.metrics import standard_metric
from emoscope.corpus.describe.datasheet import Datasheet, markdown, page
from emoscope.corpus.describe.statistics import describe
from emoscope.corpus.pipeline.aggregate import AGREEMENT
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import COUNTS, digests
from emoscope.corpus.pipeline.split import SPLITS
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.tables.labelled import read_labelled
from emoscope.tasks.corpus_task import FORMAT, MANIFEST
from emoscope.tasks.data import sha256_of


class DatasheetStep(PipelineStep):
    """Write the corpus: its splits, a manifest to load it as a task, a datasheet, the plan, and checksums."""

    takes = frozenset({Stage.SPLITS})
    gives = Stage.CORPUS
    reads_all = True

    def check(self, plan: CorpusPlan) -> None:  # noqa: ARG002
        check_installed("jinja2", "altair", "vl_convert", extra="plots")

    def run(self, context: StepContext) -> None:
        folder = context.folder
        names = [name for name in SPLITS.values() if (context.input / f"{name}.jsonl").stat().st_size]
        for name in names:
            shutil.copyfile(context.input / f"{name}.jsonl", folder / f"{name}.jsonl")
        (folder / "plan.toml").write_text(context.plan.text, encoding="utf-8")
        sheet = _datasheet(context, names)
        _write_manifest(context, sheet)
        if sheet.agreement is not None:
            write_json(folder / AGREEMENT, sheet.agreement)
        (folder / "datasheet.md").write_text(markdown(sheet), encoding="utf-8")
        (folder / "datasheet.html").write_text(page(sheet), encoding="utf-8")
        sums = "".join(f"{digest}  {name}\n" for name, digest in digests(folder).items())
        (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
        context.counts.read = context.counts.written = sum(split.examples for split in sheet.splits.values())


def _datasheet(context: StepContext, splits: list[str]) -> Datasheet:
    plan = context.plan
    steps = [read_json(folder / COUNTS) for folder in context.earlier.values()]
    agreements = [folder / AGREEMENT for folder in context.earlier.values()]
    agreement = next((read_json(path) for path in agreements if path.is_file()), None)
    if agreement is not None:
        del agreement["pairwise"]["pairs"]  # contains the annotators' names
    natural = steps[-1]["natural_labels"]
    rows = sum(natural.values())

    def examples(split: str) -> Iterator[Example]:
        return context.progress(f"describing {split}", read_labelled(context.folder / f"{split}.jsonl"))

    return Datasheet(
        about=plan.info.model_dump(mode="json"),
        metric=standard_metric(plan.info.metric, plan.info.labels, plan.info.neutral).description,
        splits={name: describe(examples(name), plan.info.labels, neutral=plan.info.neutral) for name in splits},
        # Add half a row to each label, so that none gets probability 0.
        natural_prior={label: (count + 0.5) / (rows + 0.5 * len(natural)) for label, count in natural.items()},
        natural_source=f"that of {rows:,} dialogues drawn at random, half a dialogue added to each label",
        steps=steps,
        agreement=agreement,
        files=digests(context.folder),
        inputs=sorted(sha256_of(path) for path in plan.steps[0].external_files(plan)),
        plan=plan.text,
        emoscope=__version__,
    )


def _write_manifest(context: StepContext, sheet: Datasheet) -> None:
    info = context.plan.info
    steps = {step.name for step in context.plan.steps}
    write_json(
        context.folder / MANIFEST,
        {
            "format": FORMAT,
            **info.model_dump(mode="json", exclude={"seed", "metric"}),
            "metric": {"name": info.metric, "description": sheet.metric},
            "form": "iest" if "distant" in steps else "emocontext" if "windows" in steps else "emotionx-friends",
            "natural_prior": dict(sheet.natural_prior),
            "natural_prior_source": sheet.natural_source,
            "splits": {
                name: {"file": f"{name}.jsonl", "sha256": sheet.files[f"{name}.jsonl"], "examples": split.examples}
                for name, split in sheet.splits.items()
            },
            "emoscope": sheet.emoscope,
        },
    )
