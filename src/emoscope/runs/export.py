"""A trained system as a bundle that runs without torch: graphs, tokenizer, heads with their priors and calibration."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import link_equal_files
from emoscope.detector.blocks import FOLDER as BLOCK
from emoscope.detector.bundle import FILE, Bundle, Head
from emoscope.models.block import Block
from emoscope.models.ensembles.combine import Folds, Mean
from emoscope.models.export.blocks import Exporting
from emoscope.runs.record import load_run, new_run_folder, read_record
from emoscope.systems.recipe import Recipe
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

if TYPE_CHECKING:
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.models.torch.multitask import MultiTaskClassifier
    from emoscope.models.torch.network import Network


PACKAGES = ("torch", "transformers", "onnx")
CALIBRATION = 256  # dialogues from which the ranges of values are learnt
# A model is checked with them whenever it is loaded: so they are short, and need none of what takes a while to load,
# the names of emoji and the patterns of emoticons.
REFERENCE = (
    Dialogue.of(["I am so happy today"]),
    Dialogue.of(["why did you lie to me", "I did not", "leave me alone!"]),
)


def export_bundle(
    classifier: "MultiTaskClassifier | Block",
    folder: Path,
    *,
    name: str,
    task: str,
    heads: Sequence[Head],
    dialogues: Sequence[Dialogue] | None,
    vocabulary: Sequence[str] | None = None,
    reference: Sequence[Dialogue] = REFERENCE,
    force: bool = False,
) -> None:
    """Write a bundle for `emoscope.load`.

    A mean of transformers answers all its heads at once; of other blocks every network becomes a graph of its own, and
    the rest stays as it is: n-grams, boosted trees, votes, cascades.

    `heads` say what is answered, in this order: labels, training mix, prior, temperature, decision. With `dialogues`,
    some hundred like those to come, weights become 8-bit whole numbers; with None they stay as they are. `vocabulary`
    are texts: pieces that are not in them are dropped, which makes the model smaller.
    """
    check_installed(*PACKAGES, extra="train")
    from emoscope.models.export.network import export_network

    if isinstance(classifier, Block) and not _is_mean_of_transformers(classifier):
        _export_block(classifier, folder, name, task, heads, reference, dialogues, vocabulary, force=force)
        return
    networks = list(_networks_of(classifier, heads))
    with new_run_folder(folder, force=force, mark=FILE) as part:
        for number, (network, columns, weight) in enumerate(networks):
            export_network(
                network,
                part / (f"network{number}" if len(networks) > 1 else "network"),
                reference=reference,
                calibration=dialogues,
                vocabulary=vocabulary,
                columns=columns,
                weight=weight,
            )
        Bundle(name=name, kind="encoder", task=task, heads=tuple(heads)).save(part)


def _export_block(
    block: Block,
    folder: Path,
    name: str,
    task: str,
    heads: Sequence[Head],
    reference: Sequence[Dialogue],
    dialogues: Sequence[Dialogue] | None,
    vocabulary: Sequence[str] | None,
    *,
    force: bool,
) -> None:
    with TemporaryDirectory() as work, new_run_folder(folder, force=force, mark=FILE) as part:
        exporting = Exporting(Path(work), reference, dialogues, vocabulary)
        exporting.without_torch(block).save(part / BLOCK)
        link_equal_files(part / BLOCK)  # the networks of an ensemble may read with the same encoder
        Bundle(name=name, kind="blocks", task=task, heads=tuple(heads)).save(part)


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
    """Write a bundle from a run; 8-bit weights need `dialogues`, by default some of the task's training data."""
    record = read_record(run)
    system = load_run(run, record.task)
    if not isinstance(system, Recipe) or system.block is None or system.prior is None:
        raise EmoscopeError(f"cannot export {record.system}: its runs are loaded as they are")
    head = system.head()
    if dialogues is None and (int8 or prune):
        dialogues = [example.context for example in read_split(get_task(record.task), "train", root)]
    export_bundle(
        system.block,
        folder,
        name=record.system,
        task=record.task,
        heads=[head],
        dialogues=_spread(dialogues or [], CALIBRATION) if int8 else None,
        vocabulary=[text for dialogue in dialogues or [] for text in dialogue.texts] if prune else None,
        force=force,
    )
    return Bundle.load(folder)


def _spread(dialogues: Sequence[Dialogue], count: int) -> list[Dialogue]:
    """Some of the dialogues, from all over them."""
    if not dialogues:
        raise EmoscopeError("8-bit weights need dialogues to learn the ranges of values from")
    return list(dialogues[:: max(1, len(dialogues) // count)][:count])


def _networks_of(
    classifier: "MultiTaskClassifier | Block", heads: Sequence[Head]
) -> Iterable[tuple["Network", list[int], float]]:
    """The networks whose probabilities are averaged, each with the places of the heads' labels and its weight."""
    from emoscope.models.torch.multitask import MultiTaskClassifier

    if isinstance(classifier, MultiTaskClassifier):
        columns = []
        for head in heads:
            known = classifier.heads.get(head.name, ())
            first = classifier.columns(head.name).start
            if set(known) != set(head.labels):
                raise EmoscopeError(f"head {head.name} has the labels {', '.join(known)}")
            columns += [first + known.index(label) for label in head.labels]
        yield _fitted(classifier.network), columns, 1.0
        return
    (head,) = heads
    for block, weight in _members(classifier, 1.0):
        yield _fitted(block.network), [block.labels.index(label) for label in head.labels], weight


def _is_mean_of_transformers(block: Block) -> bool:
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.models.torch.transfer import Transferred

    match block:
        case NeuralClassifier(heads=(), network_name="transformer"):
            return not block.settings.get("frozen")
        case Mean() | Folds(vote=False):
            return all(map(_is_mean_of_transformers, block.parts))
        case Transferred():
            return all(map(_is_mean_of_transformers, block.copies))
    return False


def _members(block: Block, weight: float) -> Iterable[tuple["NeuralClassifier", float]]:
    """The transformers of a mean, with their shares."""
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.models.torch.transfer import Transferred

    match block:
        case NeuralClassifier():
            yield block, weight
        case Mean():
            for part, share in zip(block.parts, block.weights, strict=True):
                yield from _members(part, weight * share / sum(block.weights))
        case Folds():
            for part in block.parts:
                yield from _members(part, weight / len(block.parts))
        case Transferred():
            for part in block.copies:
                yield from _members(part, weight / len(block.copies))


def _fitted(network: "Network | None") -> "Network":
    if network is None:
        raise EmoscopeError("this model has not been fitted")
    return network
