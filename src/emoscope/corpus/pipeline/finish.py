"""The steps that finish a corpus: split and datasheet."""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.dedupe.duplicates import THRESHOLD, DuplicateFinder
from emoscope.corpus.pipeline.artefacts import COUNTS, digests, emoscope_version, read_json, sha256_of, write_json
from emoscope.corpus.pipeline.rows import Row, read_rows, rows_file, wordings_of
from emoscope.corpus.pipeline.step import RANDOM_DRAW, Counts, Stage, Step, Work
from emoscope.corpus.splits import Part, assign, join_groups, repeats
from emoscope.tables.labelled import read_labelled

if TYPE_CHECKING:
    from emoscope.corpus.describe.datasheet import Datasheet as Sheet
    from emoscope.corpus.pipeline.plan import Plan

SPLITS = {Part.TRAIN: "train", Part.DEV: "dev", Part.TEST: "test"}
MANIFEST, FORMAT = "corpus.json", 1
_LEAK = "of the same dialogue as, or a near copy of, an evaluation row"
_METRICS = {
    "micro-f1": "micro-averaged F1 over {labels}",
    "macro-f1": "macro-F1 over the labels that occur in gold or predictions",
    "accuracy": "the share of right answers",
}


class Split(Step):
    """Cut the labelled dialogues into train, dev and test; see `emoscope.corpus.splits`.

    Rows get numbers for ids: the old ones hold the names of the logs. `ids.csv` tells which is which.
    """

    name: ClassVar[str] = "split"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.LABELLED})
    gives: ClassVar[Stage | None] = Stage.SPLITS

    dev: float = Field(default=0.1, ge=0, lt=1)
    test: float = Field(default=0.2, gt=0, lt=1)
    oversample: float = Field(default=0.25, ge=0, le=1)  # of the most frequent label's training rows, each has so many
    threshold: float = Field(default=THRESHOLD, ge=0.5, le=1.0)

    def check(self, plan: "Plan") -> None:  # noqa: ARG002
        """The shares must leave something to train on."""
        if self.dev + self.test >= 1:
            raise EmoscopeError("'dev' and 'test' together must be less than 1")

    def run(self, work: Work) -> Counts:
        """Read once to tie rows together, and again to write each where it belongs."""
        labels = list(work.plan.about.labels)
        kinds, natural, groups = self._tied(work, labels)
        seed = work.plan.about.seed
        parts = assign(kinds, groups, natural, dev=self.dev, test=self.test, seed=seed)
        train = np.flatnonzero(parts == Part.TRAIN)
        times = np.ones(len(parts), dtype=np.int64)
        times[train] = repeats(kinds[train], self.oversample, seed=seed)
        counts = Counts(read=len(parts))
        table: dict[str, Counter[str]] = {name: Counter() for name in SPLITS.values()}
        with ExitStack() as stack:
            files = {
                part: stack.enter_context(rows_file(work.folder, f"{name}.jsonl")) for part, name in SPLITS.items()
            }
            names = stack.enter_context((work.folder / "ids.csv").open("w", encoding="utf-8", newline="\n"))
            names.write("id,split,was\n")
            rows = zip(read_rows(work.before), parts.tolist(), times.tolist(), strict=True)
            for number, (row, part, often) in enumerate(work.watch("splitting", rows), start=1):
                if part == Part.LEAK:
                    counts.dropped[_LEAK] += 1
                    continue
                name = SPLITS[Part(part)]
                names.write(f'{number},{name},"{row["id"].replace(chr(34), chr(34) * 2)}"\n')
                for copy in range(often):
                    files[Part(part)].write(
                        _published(row, str(number) if not copy else f"{number}-{copy + 1}", Part(part))
                    )
                table[name][row["label"]] += often
        counts.written = sum(count.total() for count in table.values())
        if not table["train"] or not table["test"]:
            raise EmoscopeError(
                f"{len(parts):,} labelled dialogues are too few, or too much alike, to make a train and a test set"
            )
        counts.more |= {
            "repeated_in_train": int((times - 1).sum()),
            "splits": {name: {label: table[name][label] for label in labels} for name in table},
            "natural_labels": {label: int((kinds[natural] == place).sum()) for place, label in enumerate(labels)},
        }
        return counts

    def _tied(self, work: Work, labels: list[str]) -> tuple[Any, Any, Any]:
        """Each row's label, whether it is natural, and its group: rows of one dialogue, and copies, belong together."""
        number = {label: place for place, label in enumerate(labels)}
        finder = DuplicateFinder(threshold=self.threshold, spread=work.tools.spread)
        kinds: list[int] = []
        natural: list[bool] = []
        firsts: dict[str, int] = {}
        pairs: list[tuple[int, int]] = []
        for item, row in enumerate(work.watch("tying rows together", read_rows(work.before))):
            kinds.append(number[row["label"]])
            natural.append(row.get("draw", RANDOM_DRAW) == RANDOM_DRAW)
            pairs.append((item, firsts.setdefault(row["source"], item)))
            for text in wordings_of(row):
                finder.add(item, text)
        pairs.extend(finder.related())
        return np.array(kinds, dtype=np.int64), np.array(natural, dtype=bool), join_groups(len(kinds), pairs)


def _published(row: Row, name: str, part: Part) -> Row:
    """A row as it is given away: without the names of its speakers and of the log it came from."""
    letters: dict[str, str] = {}
    turns = []
    for turn in row["turns"]:
        speaker = turn.get("speaker")
        if speaker is None:
            turns.append({"text": turn["text"]})
            continue
        shown = speaker if speaker in ("user", "agent") else letters.setdefault(speaker, f"speaker {len(letters) + 1}")
        turns.append({"speaker": shown, "text": turn["text"]})
    keys = ("label", "votes", "soft", "draw", *(("variants",) if part == Part.TRAIN else ()))
    kept: Row = {key: row[key] for key in keys if key in row}
    return {"id": name, "turns": turns, **kept}


class Datasheet(Step):
    """Make the corpus: its splits, a manifest to load it as a task by, a datasheet, the plan, and checksums."""

    name: ClassVar[str] = "datasheet"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.SPLITS})
    gives: ClassVar[Stage | None] = Stage.CORPUS
    reads_all: ClassVar[bool] = True

    def check(self, plan: "Plan") -> None:  # noqa: ARG002
        """What draws figures must be installed."""
        from emoscope.corpus.describe.datasheet import check_datasheet

        check_datasheet()

    def run(self, work: Work) -> Counts:
        """Copy the splits and describe them."""
        from emoscope.corpus.describe.datasheet import markdown, page

        names = [name for name in SPLITS.values() if (work.before / f"{name}.jsonl").stat().st_size]
        for name in names:
            shutil.copyfile(work.before / f"{name}.jsonl", work.folder / f"{name}.jsonl")
        (work.folder / "plan.toml").write_text(work.plan.text, encoding="utf-8")
        sheet = self._sheet(work, names)
        self._write_manifest(work, sheet)
        if sheet.agreement is not None:
            write_json(work.folder / "agreement.json", sheet.agreement)
        (work.folder / "datasheet.md").write_text(markdown(sheet), encoding="utf-8")
        (work.folder / "datasheet.html").write_text(page(sheet), encoding="utf-8")
        sums = digests(work.folder)
        text = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
        (work.folder / "SHA256SUMS").write_text(text, encoding="utf-8")
        examples = sum(split.examples for split in sheet.splits.values())
        return Counts(read=examples, written=examples)

    def _sheet(self, work: Work, names: list[str]) -> "Sheet":
        from emoscope.corpus.describe.datasheet import Datasheet as Sheet
        from emoscope.corpus.describe.statistics import describe

        about = work.plan.about
        steps = [read_json(folder / COUNTS) for folder in work.done.values()]
        agreements = [folder / "agreement.json" for folder in work.done.values()]
        agreement = next((read_json(path) for path in agreements if path.is_file()), None)
        if agreement is not None:
            agreement["pairwise"].pop("pairs")  # they have the annotators' names
        natural = steps[-1]["natural_labels"]
        rows = sum(natural.values())
        # Half a row more of each, so that no label that exists is held for impossible.
        prior = {label: (count + 0.5) / (rows + 0.5 * len(natural)) for label, count in natural.items()}
        return Sheet(
            about=about.model_dump(mode="json"),
            metric=_metric(about.metric, about.labels, about.neutral),
            splits={name: describe(self._examples(work, name), about.labels, neutral=about.neutral) for name in names},
            natural_prior=prior,
            natural_source=f"that of {rows:,} dialogues drawn at random, half a dialogue added to each label",
            steps=steps,
            agreement=agreement,
            files=digests(work.folder),
            inputs=[digest for step in work.plan.steps[:1] for digest in _input_digests(step, work.plan)],
            plan=work.plan.text,
            emoscope=emoscope_version(),
        )

    def _examples(self, work: Work, name: str) -> Iterator[Example]:
        return work.watch(f"describing {name}", read_labelled(work.folder / f"{name}.jsonl"))

    def _write_manifest(self, work: Work, sheet: "Sheet") -> None:
        about = work.plan.about
        kinds = {step.name for step in work.plan.steps}
        form = "iest" if "distant" in kinds else "emocontext" if "windows" in kinds else "emotionx-friends"
        write_json(
            work.folder / MANIFEST,
            {
                "format": FORMAT,
                **about.model_dump(mode="json", exclude={"seed", "metric"}),
                "metric": {"name": about.metric, "description": sheet.metric},
                "form": form,
                "natural_prior": dict(sheet.natural_prior),
                "natural_prior_source": sheet.natural_source,
                "splits": {
                    name: {"file": f"{name}.jsonl", "sha256": sheet.files[f"{name}.jsonl"], "examples": split.examples}
                    for name, split in sheet.splits.items()
                },
                "emoscope": sheet.emoscope,
            },
        )


def _metric(name: str, labels: tuple[str, ...], neutral: str | None) -> str:
    return _METRICS[name].format(labels=", ".join(label for label in labels if label != neutral))


def _input_digests(step: Step, plan: "Plan") -> list[str]:
    return sorted(sha256_of(path) for path in step.outside(plan))
