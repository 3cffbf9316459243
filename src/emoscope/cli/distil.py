"""`emoscope distil`: knowledge distillation from large models to a small one."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Group
from rich.markup import escape
from rich.text import Text

from emoscope.cli.options import DataOption, DeviceOption, SeedOption, chosen_settings
from emoscope.cli.output import console, progress_bar, table
from emoscope.cli.result import CommandGroup, CommandResult
from emoscope.core.errors import EmoscopeError, InputError, did_you_mean
from emoscope.core.extras import check_installed
from emoscope.core.files import existing_file, folder_size, read_json
from emoscope.core.fit_context import FitContext
from emoscope.core.frozen import FrozenModel, first_problem
from emoscope.core.learnt import LearntItems
from emoscope.tasks import get_task
from emoscope.tasks.data import data_root, sha256_of

Plan = TypeVar("Plan", bound=FrozenModel)
app = CommandGroup(help="Distil large models into a small one.", no_args_is_help=True)


@app.command("label")
def label_cli(
    run: Annotated[Path, typer.Argument(help="A run of `emoscope train large`.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write the teacher's answers to (npz).")],
    data: DataOption = None,
) -> CommandResult:
    """Write a teacher's probabilities: out-of-fold for its own data, and for the pool of other text."""
    from emoscope.detector.model import FittedModel
    from emoscope.distil.pool import save_answers, teach
    from emoscope.runs.record import read_record

    record = read_record(run)
    if record.system != "large":
        raise EmoscopeError(f"{run}: is a run of {record.system}, expected one of large")
    task = get_task(record.task)
    block = FittedModel.load(run).block
    with console(stderr=True).status("labelling with the teacher"):
        answers = teach(block, task, FitContext(seed=record.seed, resources=data_root(data)))
    save_answers(output, task.name, task.labels, answers, LearntItems.load(run))
    counts = {name: len(table) for name, table in answers.items()}
    shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return CommandResult({"output": output, "answers": counts}, f"{output}: {shown}")


def _plan(kind: type[Plan], settings: Sequence[str] | None, **given: str) -> Plan:
    """A plan with the values of `--set`, checked."""
    from pydantic import ValidationError

    chosen = chosen_settings(settings)
    if unknown := [name for name in chosen if name not in kind.model_fields]:
        raise EmoscopeError(f"--set: no setting {unknown[0]!r}; {did_you_mean(unknown[0], kind.model_fields)}")
    try:
        return kind(**given, **chosen)
    except ValidationError as error:
        raise EmoscopeError(f"--set {first_problem(error)}") from None


@app.command("teach")
def teach_cli(
    pretrained: Annotated[str, typer.Argument(help="A pretrained model: a name on the hub, or a folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the teacher's probabilities.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change the plan: --set folds=4.")] = None,
    fold: Annotated[list[int] | None, typer.Option(help="Train only this fold; repeatable.")] = None,
    keep: Annotated[Path | None, typer.Option(help="Save the networks in this folder.")] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Also label the texts that a student learns from.")] = False,
    part: Annotated[list[str] | None, typer.Option(help="Label only this part of them; repeatable.")] = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    data: DataOption = None,
) -> CommandResult:
    """Fine-tune a pretrained model on all tasks, fold by fold, and write its out-of-fold and test probabilities."""
    from emoscope.distil.teacher import TeacherPlan, teach_by_folds
    from emoscope.systems.base import NETWORK_PACKAGES

    check_installed(*NETWORK_PACKAGES, extra="train")
    plan = _plan(TeacherPlan, settings, pretrained=pretrained)
    with progress_bar("training the teacher") as progress:
        fit_context = FitContext(seed=seed, device=device, resources=data_root(data), progress=progress)
        teach_by_folds(plan, output, fit_context, only=fold, keep=keep, ask=ask, parts=part)
    files = sorted(path.relative_to(output).as_posix() for path in output.rglob("*.npz"))
    return CommandResult({"output": output, "files": files}, f"{output}: {len(files)} files of answers")


@app.command("write")
def write_cli(
    pretrained: Annotated[str, typer.Argument(help="A causal language model: a name on the hub, or a folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="JSONL file for the dialogues.")],
    like: Annotated[str, typer.Option(help="The kind of dialogues: everyday, emocontext, push or iest.")] = "everyday",
    count: Annotated[int, typer.Option(help="Number of dialogues.", min=1)] = 20_000,
    batch_size: Annotated[int, typer.Option(help="Lists generated at once.", min=1)] = 1024,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    data: DataOption = None,
) -> CommandResult:
    """Generate dialogues for the pool with a language model; `distil teach --ask` reads DATA/written/KIND.jsonl."""
    from emoscope.distil.writing import save_written, write_dialogues
    from emoscope.systems.base import NETWORK_PACKAGES

    check_installed(*NETWORK_PACKAGES, extra="train")
    with progress_bar("writing") as progress:
        fit_context = FitContext(seed=seed, device=device, resources=data_root(data), progress=progress)
        written = save_written(output, write_dialogues(pretrained, like, count, fit_context, batch_size=batch_size))
    return CommandResult({"output": output, "dialogues": written}, f"{output}: {written:,} dialogues")


@app.command("remember")
def remember_cli(
    model: Annotated[str, typer.Argument(help="A model made from a student: default, open, or its folder.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for its answers, one file per task.")],
    limit: Annotated[int | None, typer.Option(help="At most this many texts of each source.", min=1)] = None,
    pool: Annotated[bool, typer.Option("--pool", help="Also answer the texts that `distil label` uses.")] = False,
    part: Annotated[
        list[str] | None,
        typer.Option(help="Answer only this part of the pool, with the seven emotions: comments; repeatable."),
    ] = None,
    data: DataOption = None,
) -> CommandResult:
    """Write a student's current answers, as rehearsal for training it further with `distil student`."""
    from emoscope.detector.bundle import resolve
    from emoscope.detector.model import FittedModel
    from emoscope.distil.pool import known_answers, save_answers

    if pool and part:
        raise EmoscopeError("--pool and --part: choose one")
    folder = resolve(model)
    fit_context = FitContext(resources=data_root(data))
    learnt = LearntItems.load(folder)
    output.mkdir(parents=True, exist_ok=True)
    counts = {}
    with console(stderr=True).status("labelling with the student"):
        known = known_answers(FittedModel.load(folder), fit_context, limit, pool=pool, only=part or ())
        for task_name, labels, answers in known:
            save_answers(output / f"{task_name}.npz", task_name, labels, answers, learnt)
            counts[task_name] = sum(map(len, answers.values()))
    shown = ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return CommandResult({"output": output, "answers": counts}, f"{output}: {shown}")


@app.command("student")
def student_cli(
    answers: Annotated[
        list[Path], typer.Argument(help="Teachers' files, written by `emoscope distil label`, `teach` or `remember`.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the student.")],
    settings: Annotated[list[str] | None, typer.Option("--set", help="Change the plan: --set epochs=5.")] = None,
    seed: SeedOption = 0,
    device: DeviceOption = "auto",
    data: DataOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing student.")] = False,
) -> CommandResult:
    """Train a student on the teachers' answers; with --set hold_out=true also score it on held-out data."""
    from emoscope.distil.judge import judge
    from emoscope.distil.student import StudentPlan, fit_student, gather, mix_of, save_report
    from emoscope.runs.record import kept_checkpoints, new_run_folder
    from emoscope.systems.base import NETWORK_PACKAGES

    check_installed(*NETWORK_PACKAGES, extra="train")
    from emoscope.models.torch.multitask import CONFIG

    plan = _plan(StudentPlan, settings)
    hashes = [sha256_of(existing_file(path)) for path in answers]
    what = {"answers": hashes, "plan": plan.model_dump(mode="json"), "seed": seed}
    with (
        new_run_folder(output, force=force, mark=CONFIG) as part,
        kept_checkpoints(output, what) as checkpoints,
        progress_bar("training the student") as report,
    ):
        root = data_root(data)
        fit_context = FitContext(seed=seed, device=device, checkpoints=checkpoints, resources=root, progress=report)
        targets = gather(answers, plan, fit_context)
        student = fit_student(targets, plan, fit_context)
        found = judge(student, fit_context) if plan.hold_out else {}
        student.save(part)
        save_report(part, {"mix": mix_of(targets, plan), "heads": found})
    return CommandResult(found, "\n".join([f"student written to {output}", *_score_lines(found)]))


def _score_lines(report: Mapping[str, Any]) -> Iterator[str]:
    for head, about in report.items():
        shown = ", ".join(f"{name} {score:.4f}" for name, score in about["scores"].items())
        extra = f", dev {about.get('dev_decided', about['dev']):.4f}" if "dev" in about else ""
        yield f"{head}: {shown}{extra}"


@app.command("average")
def average_cli(
    students: Annotated[
        list[str],
        typer.Argument(help="A student's folder, and those of others with the same heads, or models made from them."),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the student.")],
    share: Annotated[
        list[float] | None, typer.Option(help="How much each counts, in their order; by default all the same.")
    ] = None,
    data: DataOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing student.")] = False,
) -> CommandResult:
    """Average the weights of students, such as those of the last passes; score the mean if they have held-out data."""
    from emoscope.distil.judge import judge
    from emoscope.distil.student import REPORT, mean_of, save_report
    from emoscope.runs.record import new_run_folder

    check_installed("torch", extra="train")
    from emoscope.models.torch.multitask import CONFIG

    if not (Path(students[0]) / REPORT).is_file():
        raise InputError(students[0], "expected the folder of a student first, as `emoscope distil student` writes it")
    reports = [read_json(path) for name in students if (path := Path(name) / REPORT).is_file()]
    with new_run_folder(output, force=force, mark=CONFIG) as part, console(stderr=True).status("averaging"):
        mean = mean_of(students, share)
        held_out = all(report["heads"] for report in reports)
        found = judge(mean, FitContext(resources=data_root(data))) if held_out else {}
        mean.save(part)
        save_report(part, {"mix": reports[0]["mix"], "heads": found})
    return CommandResult(found, "\n".join([f"student written to {output}", *_score_lines(found)]))


@app.command("bundle")
def bundle_cli(
    students: Annotated[
        list[str],
        typer.Argument(
            help="Folders written by `emoscope distil student`, with different heads; or a model for other heads."
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")],
    report: Annotated[
        Path | None,
        typer.Option(help="The report of a student trained with hold_out=true; by default the students' own."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the model.")] = "default",
    data: DataOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing model.")] = False,
) -> CommandResult:
    """Write students as an int8 model that runs without torch, with their priors, temperatures and decisions."""
    from emoscope.distil.bundle import student_bundle

    with console(stderr=True).status("exporting"):
        context = FitContext(resources=data_root(data))
        student_bundle(students, output, context, report=report, name=name, force=force)
    size = folder_size(output)
    text = f"{output}: {size / 1e6:.1f} MB; use it with emoscope.load({str(output)!r}, labels=...)"
    return CommandResult({"output": output, "bytes": size}, text)


@app.command("learnt")
def learnt_cli(
    model: Annotated[str, typer.Argument(help="A model's or a run's folder, or default, open, nano.")],
    add: Annotated[
        list[str] | None,
        typer.Option(
            help="Add a source to the record of a model: iest/dev, meld; 'teacher: iest/dev' if its teachers learnt "
            "it, 'calibration: emocontext/dev' if it was calibrated on it; repeatable."
        ),
    ] = None,
    data: DataOption = None,
) -> CommandResult:
    """Show what a model learnt from: the record by which `predict` recognises items that were learnt."""
    from emoscope.detector.bundle import Bundle, resolve
    from emoscope.distil.pool import add_sources

    folder = resolve(model)
    Bundle.load(folder)
    learnt = add_sources(folder, add, FitContext(resources=data_root(data))) if add else LearntItems.load(folder)
    if learnt is None:
        raise EmoscopeError(f"{model}: has no record of what it learnt; create one with --add SOURCE")
    rows = [(escape(name), count) for name, count in learnt.sources.items()]
    heading = Text(
        f"{model} learnt {len(learnt):,} labelled items, itself or through its teachers",
        style="bold",
        no_wrap=True,
        overflow="ignore",
    )
    shown = Group(heading, table(None, ["source", "examples"], rows))
    return CommandResult({"model": model, "items": len(learnt), "sources": learnt.sources}, [shown])
