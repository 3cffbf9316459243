"""What 8 bits cost: the same student in single precision and as the exported int8 model, on what it has not met.

    python -m benchmarks.quality.quantisation --student FOLDER --bundle FOLDER --data DATA

The student is one made with hold_out=true, the bundle what `emoscope distil bundle` made of it. Both answer the
held-out tenth of every task and EmoContext's development set, with the same temperatures and class prior. The table
goes to benchmarks/results/quantisation.csv; `python -m benchmarks.quality render` puts it into docs/results/quality.md.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import emoscope
from benchmarks.common.options import command_line
from benchmarks.common.paths import RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import write_rows
from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.distil.pool import HEAD_OF, TASKS, own_examples
from emoscope.distil.student import is_held_out
from emoscope.models.block import Floats
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.runs.train import official_score
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split

TABLE = RESULTS / "quantisation.csv"


def parts(fit_context: FitContext) -> Iterator[tuple[str, str, list[Example]]]:
    """Each task with what the student has not met of it."""
    for name in TASKS:
        yield name, "held-out tenth", [example for example in own_examples(name, fit_context) if is_held_out(example)]
    yield "emocontext", "dev", read_split(get_task("emocontext"), "dev", fit_context.resources)


def compare(student: MultiTaskClassifier, bundle: Path, fit_context: FitContext) -> Iterator[dict[str, Any]]:
    """Both precisions' official scores, part by part."""
    for name, data, examples in parts(fit_context):
        task, head = get_task(name), HEAD_OF[name]
        detector = emoscope.load(bundle, labels=head)
        contexts = [example.context for example in examples]
        small = np.concatenate([detector.predict_proba(contexts[n : n + 256]) for n in range(0, len(contexts), 256)])
        whole = _single_precision(student, examples, detector, bundle)
        said = [[detector.labels[best] for best in answers.argmax(1)] for answers in (whole, small)]
        single, eight = (official_score(task, examples, labels) for labels in said)
        row = {
            "task": name,
            "data": data,
            "items": len(examples),
            "single": round(single, 4),
            "int8": round(eight, 4),
            "same_labels": round(float(np.mean([one == two for one, two in zip(*said, strict=True)])), 4),
        }
        print(json.dumps(row), flush=True)
        yield row


def _single_precision(
    student: MultiTaskClassifier, examples: list[Example], detector: emoscope.Detector, bundle: Path
) -> Floats:
    about = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    temperature = next(head["temperature"] for head in about["heads"] if head["name"] == detector.head)
    scores = student.scores(examples)[:, student.columns(detector.head)] / temperature
    powers = np.exp(scores - scores.max(1, keepdims=True))
    answers = powers / powers.sum(1, keepdims=True)
    priors = [prior_vector(prior, detector.labels) for prior in (detector.training_prior, detector.prior)]
    return np.asarray(shift_prior(answers, *priors))


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("--student", type=Path, required=True)
    parser.add_argument("--bundle", type=Path, required=True)
    options = parser.parse_args()
    rows = list(compare(MultiTaskClassifier.load(options.student), options.bundle, FitContext(resources=options.data)))
    write_rows(TABLE, rows)
    keep(TABLE, made(0, {"student": options.student.name, "bundle": options.bundle.name}))


if __name__ == "__main__":
    main()
