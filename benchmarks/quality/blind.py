"""An embedded model's labels for the blind sets, in benchmarks/blind/TASK/MODEL.txt, each with its record.

python -m benchmarks.quality.blind --model default --data DATA
"""

from benchmarks.common.options import command_line
from benchmarks.common.provenance import BLIND, keep, made
from emoscope.core.errors import EmoscopeError
from emoscope.detector.bundle import PRESETS, resolve
from emoscope.distil.pool import TASKS
from emoscope.runs.predict import predictor
from emoscope.tasks import get_task
from emoscope.tasks.data import find_split, read_split

NOTE = "the embedded model's labels, with the choice that the task's metric prefers"


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("--model", choices=PRESETS, default="default")
    options = parser.parse_args()
    for name in TASKS:
        task = get_task(name)
        try:
            label = predictor(resolve(options.model), task)
        except EmoscopeError as error:  # not every model answers every task
            print(error)
            continue
        labels = label(read_split(task, "test", options.data))
        path = BLIND / name / f"{options.model}.txt"
        task.write_labels(path, labels)
        keep(path, made(0, {"model": options.model}, [find_split(task, "test", options.data).path], NOTE))
        print(f"{path.relative_to(BLIND)}: {len(labels):,} labels")


if __name__ == "__main__":
    main()
