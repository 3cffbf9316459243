"""A model's results, small enough to check by hand."""

from emoscope.core.significance import Interval
from emoscope.evaluation.results import (
    AboutModel,
    CheckFigures,
    ClassFigures,
    Figure,
    HeadResults,
    ModelResults,
    Speed,
    TrainingData,
)


def head_results(**changes: object) -> HeadResults:
    head = HeadResults(
        head="mood",
        labels=("good", "bad"),
        data="Ours",
        split="dev",
        n=4,
        metric="macro-f1",
        score=0.733333,
        interval=Interval(level=0.95, low=0.2, high=1.0, samples=200),
        accuracy=0.75,
        macro_f1=0.733333,
        ece=0.225,
        per_class={
            "good": ClassFigures(precision=0.666667, recall=1.0, f1=0.8, support=2),
            "bad": ClassFigures(precision=1.0, recall=0.5, f1=0.666667, support=2),
        },
    )
    return head.model_copy(update=changes)


def model_results(**changes: object) -> ModelResults:
    results = ModelResults(
        name="mine",
        version="0.1.0",
        measured_with="emoscope 0.1.0 on a machine with 2 cores",
        about=AboutModel(
            summary="A model for the tests.",
            intended_use=("Tests.",),
            limits=("It knows 2 labels.",),
            training_data=(TrainingData(name="Ours", use="fitting", terms="CC BY 4.0", items=12_345),),
        ),
        heads=(head_results(seeds=(0, 1), seed_scores=(0.73, 0.74), notes=("3 folds",)),),
        checks=(CheckFigures(head="mood", kind="irony", n=12, right=7),),
        size_bytes=23_456_789,
        speed=Speed(
            machine="a laptop", figures=(Figure(name="in batches", value=1234.567, unit="dialogues a second"),)
        ),
    )
    return results.model_copy(update=changes)
