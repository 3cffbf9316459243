"""The step `split`: split labelled dialogues into train, dev and test."""

from collections import Counter
from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.dedupe.duplicates import THRESHOLD, DuplicateFinder
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import Row, paraphrases_of
from emoscope.corpus.pipeline.step import RANDOM_DRAW, PipelineStep, Stage, StepContext
from emoscope.corpus.splits import Split, assign, join_groups, repeats
from emoscope.tables import open_writer

SPLITS = {Split.TRAIN: "train", Split.DEV: "dev", Split.TEST: "test"}
_LEAK = "of the same dialogue as, or a near copy of, an evaluation row"


class SplitStep(PipelineStep):
    """Split the labelled dialogues into train, dev and test; see `emoscope.corpus.splits`.

    Rows get numeric ids, because the old ones contain log names. `ids.csv` maps new ids to old ones.
    """

    takes = frozenset({Stage.LABELLED})
    gives = Stage.SPLITS

    dev: float = Field(default=0.1, ge=0, lt=1)
    test: float = Field(default=0.2, gt=0, lt=1)
    oversample: float = Field(default=0.25, ge=0, le=1)  # minimum training rows per label, relative to the commonest
    threshold: float = Field(default=THRESHOLD, ge=0.5, le=1.0)

    def check(self, plan: CorpusPlan) -> None:  # noqa: ARG002
        if self.dev + self.test >= 1:
            raise EmoscopeError("'dev' and 'test' together must be less than 1")

    def run(self, context: StepContext) -> None:
        labels = list(context.plan.info.labels)
        codes, natural, groups = self._grouped(context, labels)
        seed = context.plan.info.seed
        splits = assign(codes, groups, natural, dev=self.dev, test=self.test, seed=seed)
        train = np.flatnonzero(splits == Split.TRAIN)
        times = np.ones(len(splits), dtype=np.int64)
        times[train] = repeats(codes[train], self.oversample, seed=seed)
        table: dict[str, Counter[str]] = {name: Counter() for name in SPLITS.values()}
        with ExitStack() as stack:
            paths = {name: str(context.folder / f"{name}.jsonl") for name in SPLITS.values()}
            files = {name: stack.enter_context(open_writer(path)) for name, path in paths.items()}
            ids = stack.enter_context((context.folder / "ids.csv").open("w", encoding="utf-8", newline="\n"))
            ids.write("id,split,was\n")
            rows = zip(context.rows("splitting"), splits.tolist(), times.tolist(), strict=True)
            for number, (row, split, copies) in enumerate(rows, start=1):
                if split == Split.LEAK:
                    context.counts.dropped[_LEAK] += 1
                    continue
                name = SPLITS[Split(split)]
                old_id = row["id"].replace('"', '""')
                ids.write(f'{number},{name},"{old_id}"\n')
                for copy in range(1, copies + 1):
                    public_id = str(number) if copy == 1 else f"{number}-{copy}"
                    files[name].write(_anonymous(row, public_id, variants=name == "train"))
                table[name][row["label"]] += copies
        context.counts.written = sum(count.total() for count in table.values())
        if not table["train"] or not table["test"]:
            raise EmoscopeError(
                f"{len(splits):,} labelled dialogues are too few, or too much alike, to make a train and a test set"
            )
        context.counts.more |= {
            "repeated_in_train": int((times - 1).sum()),
            "splits": {name: {label: table[name][label] for label in labels} for name in table},
            "natural_labels": {label: int((codes[natural] == code).sum()) for code, label in enumerate(labels)},
        }

    def _grouped(
        self, context: StepContext, labels: list[str]
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.int64]]:
        """Each row's label, whether it was drawn at random, and its group: rows of one dialogue and duplicates."""
        code = {label: number for number, label in enumerate(labels)}
        finder = DuplicateFinder(threshold=self.threshold, executor=context.executor)
        codes: list[int] = []
        natural: list[bool] = []
        first_of_source: dict[str, int] = {}
        pairs: list[tuple[int, int]] = []
        for item, row in enumerate(context.rows("grouping rows")):
            codes.append(code[row["label"]])
            natural.append(row.get("draw", RANDOM_DRAW) == RANDOM_DRAW)
            pairs.append((item, first_of_source.setdefault(row["source"], item)))
            for text in paraphrases_of(row):
                finder.add(item, text)
        pairs.extend(finder.related())
        return np.array(codes, dtype=np.int64), np.array(natural, dtype=bool), join_groups(len(codes), pairs)


def _anonymous(row: Row, public_id: str, *, variants: bool) -> Row:
    """A row for publication, without speaker and log names."""
    aliases: dict[str, str] = {"user": "user", "agent": "agent"}
    turns = []
    for turn in row["turns"]:
        speaker = turn.get("speaker")
        shown = {} if speaker is None else {"speaker": aliases.setdefault(speaker, f"speaker {len(aliases) - 1}")}
        turns.append({**shown, "text": turn["text"]})
    keys = ("label", "votes", "soft", "draw", *(("variants",) if variants else ()))
    return {"id": public_id, "turns": turns, **{key: row[key] for key in keys if key in row}}
