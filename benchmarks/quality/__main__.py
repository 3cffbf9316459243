"""Measure a model's quality and write docs/results/quality.md and the model cards.

    python -m benchmarks.quality run --model default --data DATA [--held-out FOLDER] [--answers FILE ...] [--optimistic]
    python -m benchmarks.quality behaviour --model default
    python -m benchmarks.quality render

`run` scores every set of labels of the model on the data there are for it: EmoContext's development set and GoEmotions'
test set; and on the hand-written checks ("the 84") and the behaviour suite, which `behaviour` does alone. MELD's test
set is not among them: 274 of its 280 dialogues are scenes of EmotionX's training data. EmotionX and IEST have no
labelled set that the model has not learnt from: their scores come from `--held-out`, a copy of the model made from a
student with hold_out=true, on the tenth that it has not learnt; or from `--answers`, files of out-of-fold probabilities
(see `KeptAnswers`). Results go to benchmarks/results/models/NAME.json; a set of labels and data that is not measured
again stays as it was. What people say of the model (use, limits, training data) is in benchmarks/models/NAME.toml, its
speed in benchmarks/results/speed.csv, its size and what it learnt in its folder: each figure has one source, from which
`render` renews the results before it writes the tables of docs/results/quality.md, docs/results/card-NAME.md and the
card inside the package. Nothing is scored that the model learnt, unless `--optimistic` asks for it: then the result has
a note, as has that of `default` on EmoContext's development set, which its teachers learnt. The log of what was tried
is benchmarks/results/tried.csv, kept by hand (see `page_tables.Trial`).
"""

from pathlib import Path

from benchmarks.common.options import command_line
from benchmarks.quality.render import render
from benchmarks.quality.run import rerun_behaviour, run
from emoscope.core.errors import EmoscopeError


def main() -> None:
    parser = command_line(__doc__, "data")
    parser.add_argument("what", choices=["run", "behaviour", "render"])
    parser.add_argument("--model", default="default", help="an embedded model or a folder; with --answers, any name")
    parser.add_argument("--name", help="the name to keep its results under; the model's own if not given")
    parser.add_argument("--held-out", type=Path, help="a copy of the model that has not learnt the tenth of each task")
    parser.add_argument("--answers", type=Path, action="append", default=[])
    parser.add_argument("--samples", type=int, default=10_000, help="draws of each bootstrap")
    parser.add_argument("--optimistic", action="store_true", help="also score what the model learnt, with a note")
    options = parser.parse_args()
    try:
        name = options.name or Path(options.model).name
        if options.what == "render":
            render()
        elif options.what == "behaviour":
            rerun_behaviour(options.model, name)
        else:
            run(
                options.model,
                name,
                options.data,
                options.answers,
                options.samples,
                options.held_out,
                optimistic=options.optimistic,
            )
    except EmoscopeError as error:
        parser.exit(2, f"benchmarks.quality: {error}\n")


if __name__ == "__main__":
    main()
