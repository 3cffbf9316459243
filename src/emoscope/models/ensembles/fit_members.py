"""Fitting the members of an ensemble, one after the other or several at once."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.parallel import SERIAL, Executor

DONE = ".done"
PROBABILITIES = "answers.npy"


@dataclass(frozen=True, slots=True)
class MemberFit:
    """A block to fit on some of the examples, and the examples it then predicts."""

    name: str
    block: Block
    fit_on: Sequence[int]
    predict_on: Sequence[int]
    seed: int


def fit_members(
    members: Sequence[MemberFit], examples: Sequence[Example], labels: Sequence[str], context: FitContext
) -> Iterator[tuple[int, Block, Floats]]:
    """Yield each member's number, its fitted block and its probabilities.

    With a checkpoint folder, members finished before an interruption are loaded and not fitted again.
    """
    with TemporaryDirectory() as temporary:
        root = context.checkpoints or Path(temporary)
        folders = [root / f"{member.name}{DONE}" for member in members]
        done = [number for number, folder in enumerate(folders) if (folder / PROBABILITIES).is_file()]
        missing = [number for number in range(len(members)) if number not in done]
        executor, own = SERIAL, context
        if context.workers > 1:
            executor = Executor(workers=context.workers, single_core=False)
            # Several at once keep no checkpoints of their own: many large networks at every epoch would fill a disk.
            own = replace(context, progress=FitContext().progress, workers=1, checkpoints=None)
        fit = partial(_fit_and_save, root=root, examples=examples, labels=labels, context=own)
        fitted = zip(missing, executor.map(fit, (members[number] for number in missing)), strict=True)
        for count, number in enumerate(chain(done, (number for number, _ in fitted)), start=1):
            context.progress(f"{members[number].name}: {count} of {len(members)}", count / len(members))
            yield number, Block.load(folders[number]), np.load(folders[number] / PROBABILITIES, allow_pickle=False)
            if context.checkpoints is None:
                shutil.rmtree(folders[number])


def _fit_and_save(
    member: MemberFit, root: Path, examples: Sequence[Example], labels: Sequence[str], context: FitContext
) -> None:
    folder = root / f"{member.name}{DONE}"
    own = context.part(member.name, seed=member.seed)
    member.block.fit([examples[i] for i in member.fit_on], [labels[i] for i in member.fit_on], own)
    probabilities = member.block.predict_proba([examples[i] for i in member.predict_on])
    member.block.save(folder)
    with atomic_write(folder / PROBABILITIES, "wb") as handle:  # written last, to mark the member as complete
        np.save(handle, probabilities)
    if own.checkpoints is not None:
        shutil.rmtree(own.checkpoints, ignore_errors=True)
