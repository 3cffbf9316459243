"""What 8 bits cost: the same student in single precision and as the exported int8 model, on what it has not met.

    python -m benchmarks.quality.quantisation --student FOLDER --bundle FOLDER --data DATA

The student is one made with hold_out=true, the bundle what `emoscope distil bundle` made of it. Both answer what the
student's heads are judged on: the held-out tenth of each task and EmoContext's development set, or the held-out
everyday situations, with the same temperatures and class prior. The bundle's rows are replaced in
benchmarks/results/quantisation.csv; `python -m benchmarks.quality render` puts the table into docs/results/quality.md.
"""

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import emoscope
from benchmarks.common.options import command_line
from benchmarks.common.paths import RESULTS
from benchmarks.common.provenance import keep, made
from benchmarks.common.tables import read_json, replace_row
from emoscope.core.dialogue import Example
from emoscope.core.fit_context import FitContext
from emoscope.distil.everyday import everyday_examples
from emoscope.distil.judge import score
from emoscope.distil.pool import HEAD_OF, TASKS, own_examples
from emoscope.distil.student import is_held_out
from emoscope.models.block import Floats
from emoscope.models.label_shift import prior_vector, shift_prior
from emoscope.models.torch.multitask import MultiTaskClassifier
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

TABLE = RESULTS / "quantisation.csv"


def parts(heads: Collection[str], fit_context: FitContext) -> Iterator[tuple[str, str, list[Example]]]:
    """What a student with these heads has not met: the task (or `general`), the data, the examples."""
    if "general" in heads:
        yield "general", "everyday dialogues, held-out situations", everyday_examples(held_out=True)
    for name in TASKS:
        if HEAD_OF[name] in heads:
            yield name, "held-out tenth", [each for each in own_examples(name, fit_context) if is_held_out(each)]
    if "emocontext" in heads:
        yield "emocontext", "dev", read_split(get_task("emocontext"), "dev", fit_context.resources)


def compare(student: MultiTaskClassifier, bundle: Path, fit_context: FitContext) -> Iterator[dict[str, Any]]:
    """Both precisions' scores, part by part."""
    for name, data, examples in parts(student.heads, fit_context):
        detector = emoscope.load(bundle, labels=HEAD_OF[name])
        contexts = [example.context for example in examples]
        small = np.concatenate([detector.predict_proba(contexts[n : n + 256]) for n in range(0, len(contexts), 256)])
        whole = _single_precision(student, examples, detector, bundle)
        row = {
            "model": read_json(bundle / "bundle.json")["name"],
            "task": name,
            "data": data,
            "items": len(examples),
            "single": round(score(name, examples, whole, detector.labels), 4),
            "int8": round(score(name, examples, small, detector.labels), 4),
            "same_labels": round(float(np.mean(whole.argmax(1) == small.argmax(1))), 4),
        }
        print(json.dumps(row), flush=True)
        yield row


def _single_precision(
    student: MultiTaskClassifier, examples: list[Example], detector: emoscope.Detector, bundle: Path
) -> Floats:
    heads = read_json(bundle / "bundle.json")["heads"]
    temperature = next(head["temperature"] for head in heads if head["name"] == detector.head)
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
    student = MultiTaskClassifier.load(options.student)
    for row in compare(student, options.bundle, FitContext(resources=options.data)):
        replace_row(TABLE, row, ("model", "task", "data"))
    files = [find_split(get_task(name), "train", options.data).path for name in TASKS if HEAD_OF[name] in student.heads]
    if "emocontext" in student.heads:
        files.append(find_split(get_task("emocontext"), "dev", options.data).path)
    settings = {"student": options.student.name, "bundle": options.bundle.name}
    keep(TABLE, made(0, settings, files, "everyday dialogues are those of the commit"))


if __name__ == "__main__":
    main()
