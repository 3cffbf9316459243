"""FitContext the parts of an ensemble, one after the other or several at once, each in a process of its own."""

import multiprocessing
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import atomic_write
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, load_block

ANSWERS = "answers.npy"


@dataclass(frozen=True, slots=True)
class Part:
    """A block to fit on some of the examples, and then to ask about others."""

    name: str
    block: Block
    learn: Sequence[int]
    ask: Sequence[int]
    seed: int


def fit_parts(
    parts: Sequence[Part], examples: Sequence[Example], labels: Sequence[str], fitting: FitContext
) -> Iterator[tuple[int, Block, Floats]]:
    """The fitted block of each part, with its probabilities for what it was to be asked; in the order they are done.

    With a checkpoint folder, parts that were finished before a kill are read from there and not fitted again.
    """
    kept = fitting.checkpoints
    with TemporaryDirectory() as temporary:
        folders = [(kept or Path(temporary)) / f"{part.name}.done" for part in parts]
        ready = [number for number in range(len(parts)) if (folders[number] / ANSWERS).is_file()]
        waiting = [number for number in range(len(parts)) if number not in ready]
        finished = chain(ready, _finish(waiting, parts, folders, examples, labels, fitting))
        for done, number in enumerate(finished, start=1):
            fitting.progress(f"{parts[number].name}: {done} of {len(parts)}", done / len(parts))
            yield number, load_block(folders[number]), np.load(folders[number] / ANSWERS, allow_pickle=False)
            if kept is None:
                shutil.rmtree(folders[number])


def _finish(
    waiting: Sequence[int],
    parts: Sequence[Part],
    folders: Sequence[Path],
    examples: Sequence[Example],
    labels: Sequence[str],
    fitting: FitContext,
) -> Iterator[int]:
    if fitting.workers <= 1:
        for number in waiting:
            _fit_and_save(parts[number], folders[number], (examples, labels, fitting))
            yield number
        return
    # Started afresh rather than forked: a forked process cannot use the GPU, and may inherit locks that nobody opens.
    context = multiprocessing.get_context("spawn")
    # Side by side, parts are kept when whole: many large networks written out at every epoch would fill a disk.
    shared = (examples, labels, replace(fitting, progress=_silent, workers=1, checkpoints=None))
    with ProcessPoolExecutor(fitting.workers, context, _share, (shared,)) as pool:
        futures = {pool.submit(_fit_and_save, parts[number], folders[number]): number for number in waiting}
        for future in as_completed(futures):
            future.result()
            yield futures[future]


def _silent(message: str, done: float) -> None:
    """Only the parent reports."""


# What all parts of a worker need is sent once, when the worker starts.
_Shared = tuple[Sequence[Example], Sequence[str], FitContext]
_shared: _Shared = ((), (), FitContext())


def _share(shared: _Shared) -> None:
    global _shared  # noqa: PLW0603
    _shared = shared


def _fit_and_save(part: Part, folder: Path, shared: _Shared | None = None) -> None:
    examples, labels, fitting = shared or _shared
    own = fitting.part(part.name, seed=part.seed)
    part.block.fit([examples[index] for index in part.learn], [labels[index] for index in part.learn], own)
    answers = part.block.predict_proba([examples[index] for index in part.ask])
    part.block.save(folder)
    with atomic_write(folder / ANSWERS, "wb") as handle:  # last: the sign that the part is whole
        np.save(handle, answers)
    if own.checkpoints is not None:
        shutil.rmtree(own.checkpoints, ignore_errors=True)
