"""Save a run or a student as a folder for the `transformers` library, with config, tokenizer and model card."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from emoscope import __version__
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import write_file
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import FILE, Head
from emoscope.runs.record import new_run_folder

if TYPE_CHECKING:
    from emoscope.models.torch.network import Network

CARD = "README.md"
STUDENT = "headed.json"


def save_for_transformers(
    source: str | Path, folder: str | Path, *, labels: str | None = None, force: bool = False
) -> tuple[str, ...]:
    """Write a run of one fine-tuned transformer, or a student, as a `transformers` folder; returns its labels.

    `labels` names the label set if there are several. Needs the extra `train`.

    >>> save_for_transformers("runs/hsu", "models/hsu")  # doctest: +SKIP
    ('neutral', 'joy', 'sadness', 'anger')
    """
    check_installed("torch", "transformers", extra="train")
    from emoscope.models.export.transformers_folder import write_transformers

    source = Path(source)
    head, network, places, facts = (_student if (source / STUDENT).is_file() else _run)(source, labels)
    shift = None
    if head.prior is not None:
        shift = np.log([head.prior[label] / head.trained[label] for label in head.labels])
    with new_run_folder(Path(folder), force=force, mark="config.json") as part:
        write_transformers(network, part, head.labels, places=places, temperature=head.temperature, shift=shift)
        window: Any = network.window  # only transformers get here
        turns = f"turns[-{window.context}:]" + ("[::-1]" if window.reverse else "")
        write_file(part / CARD, model_card(head, {**facts, "turns": turns}, LearntItems.load(source)))
    return head.labels


def _run(folder: Path, labels: str | None) -> "tuple[Head, Network, list[int], dict[str, Any]]":
    from emoscope.detector.model import FittedModel
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.runs.record import read_record
    from emoscope.systems import SYSTEMS
    from emoscope.tasks import get_task

    if not (folder / FILE).is_file():
        raise EmoscopeError(f"{folder}: is neither a run nor a student")
    record, model = read_record(folder), FittedModel.load(folder)
    if not isinstance(model.block, NeuralClassifier) or model.block.heads:
        raise EmoscopeError(f"{folder}: {record.system} is more than one network; only a single one fits transformers")
    task = get_task(record.task).metadata
    score = record.dev or record.held_out
    facts = {
        "name": record.system,
        "title": task.title,
        "paper": SYSTEMS[record.system].metadata.citation,
        "terms": task.terms,
        "cite": task.citation,
        "score": score and f"{score['score']:.4f} {score['metric']} ({'dev' if record.dev else 'held-out folds'})",
    }
    head = model.bundle.head(labels)
    return head, model.block.fitted(), [model.block.labels.index(label) for label in head.labels], facts


def _student(folder: Path, labels: str | None) -> "tuple[Head, Network, list[int], dict[str, Any]]":
    from emoscope.models.torch.multitask import MultiTaskClassifier

    student = MultiTaskClassifier.load(folder)
    name = labels or next(iter(student.heads))
    columns = student.columns(name)
    even = dict.fromkeys(student.heads[name], 1 / len(student.heads[name]))
    head = Head(name=name, labels=student.heads[name], trained=even)
    facts = {"name": folder.name, "title": f"the labels {name}", "terms": "those of what it learnt"}
    return head, student.fitted(), list(range(columns.start, columns.stop)), facts


def model_card(head: Head, facts: dict[str, Any], learnt: LearntItems | None) -> str:
    """The model card, headed by the hub's metadata.

    >>> mood = Head(name="mood", labels=("good", "bad"), trained={"good": 0.5, "bad": 0.5})
    >>> model_card(mood, {"name": "mine", "title": "Moods", "terms": "Free."}, None).splitlines()[1]
    'language: en'
    """
    sources = [] if learnt is None else [f"- {name}: {count:,} examples" for name, count in learnt.sources.items()]
    prior = "as in training" if head.prior is None else head.prior_source or "another mix than in training"
    lines = [
        "---\nlanguage: en\npipeline_tag: text-classification\nlibrary_name: transformers\nlicense: other",
        "license_name: see-terms\ntags: [emotion, emoscope]\n---\n",
        f"# {facts['name']}\n\nThe emotion of the last turn of a dialogue: {facts['title']}.\n",
        f"Labels: {', '.join(head.labels)}. Probabilities are for the mix of labels {prior}.\n",
        "## Use it\n\n```python\nfrom transformers import pipeline\n",
        'classify = pipeline("text-classification", "FOLDER", trust_remote_code=True, truncation=True)',
        'turns = ["how was it?", "tell me", "I passed!"]',
        f"classify(classify.tokenizer.sep_token.join({facts.get('turns', 'turns')}))\n```\n",
        "`modeling_emoscope.py` in this folder is the code that is trusted: an encoder, a pooling and a linear layer.",
        "Emoji are spelled as words before they are read: `emoscope.core.text.normalise_text` does so.\n",
        "## Limits\n\nEnglish. Not for decisions about single people, and no safety tool.\n",
        f"## Training\n\nTerms of the data: {facts['terms']}\n",
        *sources,
        f"\nMade with emoscope {__version__}.",
        *(f"\n{name.capitalize()}: {facts[name]}" for name in ("score", "paper", "cite") if facts.get(name)),
    ]
    return "\n".join(lines) + "\n"
