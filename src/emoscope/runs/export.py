"""Export a trained system as a bundle that runs without torch: graphs, tokenizer, heads, priors and calibration."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, TypeVar

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import link_equal_files
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import FILE, Bundle, Head
from emoscope.detector.model import BLOCK, FittedModel
from emoscope.models.block import Block
from emoscope.models.export.exporter import Exporter
from emoscope.runs.record import new_run_folder, read_record
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

if TYPE_CHECKING:
    from emoscope.models.export.kept import KeptNetwork
    from emoscope.models.torch.multitask import MultiTaskClassifier

T = TypeVar("T")
PACKAGES = ("torch", "transformers", "onnx")
CALIBRATION = 256  # number of dialogues that calibrate 8-bit weights
# Every model is checked with these on loading, so they are short and have no emoji or emoticons, whose tables are slow
# to load.
REFERENCE = (
    Dialogue.of(["I am so happy today"]),
    Dialogue.of(["why did you lie to me", "I did not", "leave me alone!"]),
)


def export_bundle(
    model: "Block | MultiTaskClassifier | Sequence[MultiTaskClassifier | KeptNetwork]",
    folder: Path,
    *,
    name: str,
    task: str,
    heads: Sequence[Head],
    dialogues: Sequence[Dialogue] | None,
    vocabulary: Sequence[str] | None = None,
    reference: Sequence[Dialogue] = REFERENCE,
    learnt: LearntItems | None = None,
    force: bool = False,
) -> Bundle:
    """Write a model folder for `emoscope.load`: networks become ONNX graphs, everything else is kept as it is.

    Several classifiers become one model. `heads` are the label sets, the first being the default. `dialogues`, a few
    hundred typical ones, calibrate 8-bit weights; without them the weights are not quantised. Word pieces that do not
    occur in the texts `vocabulary` are dropped to make the model smaller. `learnt` records the items the model learnt.
    """
    check_installed(*PACKAGES, extra="train")
    from emoscope.models.torch.multitask import export_together

    bundle = Bundle(name=name, task=task, heads=tuple(heads))
    with TemporaryDirectory() as work, new_run_folder(folder, force=force, mark=FILE) as part:
        exporter = Exporter(Path(work), reference, dialogues, vocabulary)
        labels = {head.name: head.labels for head in heads}
        if isinstance(model, Block):
            exported = model.export(exporter)
        else:
            exported = export_together(model if isinstance(model, Sequence) else [model], exporter, labels)
        FittedModel(bundle, exported).save(part)
        if learnt is not None:
            learnt.save(part)
        link_equal_files(part / BLOCK)  # networks of an ensemble may share an encoder
    return bundle


def export_run(
    run: Path,
    folder: Path,
    *,
    int8: bool = True,
    dialogues: Sequence[Dialogue] | None = None,
    prune: bool = False,
    root: Path | None = None,
    force: bool = False,
) -> Bundle:
    """Export a run; `dialogues` calibrate 8-bit weights, by default some of the task's training data."""
    record = read_record(run)
    model = FittedModel.load(run)
    if dialogues is None and (int8 or prune):
        dialogues = [example.context for example in read_split(get_task(record.task), "train", root)]
    if int8 and not dialogues:
        raise EmoscopeError("8-bit weights need dialogues for their calibration")
    return export_bundle(
        model.block,
        folder,
        name=record.system,
        task=record.task,
        heads=model.bundle.heads,
        dialogues=spread(dialogues or [], CALIBRATION) if int8 else None,
        vocabulary=[text for dialogue in dialogues or [] for text in dialogue.texts] if prune else None,
        learnt=LearntItems.load(run),
        force=force,
    )


def spread(items: Sequence[T], count: int) -> list[T]:
    """Up to `count` items, evenly spread over the sequence.

    >>> spread("abcdef", 3)
    ['a', 'c', 'e']
    """
    return list(items[:: max(1, len(items) // count)][:count])
