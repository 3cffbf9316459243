"""`emoscope corpus agreement`, `aggregate`, `human-study` and `human-sample`: evaluate annotators' judgements."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.options import (
    FilesArgument,
    GoldAnswersOption,
    GoldOption,
    MinGoldOption,
    check_goes_with,
    listed,
)
from emoscope.cli.options import SeedOption
from emoscope.cli.output import coloured, table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.significance import Interval
from emoscope.corpus.annotation.aggregate import Aggregated, Method
from emoscope.corpus.annotation.agreement_report import Agreement, measure_agreement
from emoscope.corpus.annotation.files import check_output
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.human_study import GoldFile, HumanScores, HumanStudy
from emoscope.corpus.annotation.human_study import human_study as score_people
from emoscope.corpus.annotation.panel import PanelReport, aggregate_panel, read_panel, without_gold, write_labels
from emoscope.corpus.annotation.study_sample import GOLD_QUESTIONS, write_study_sample
from emoscope.corpus.annotation.workers import SCREENING_RULES
from emoscope.corpus.mining.mine import OTHERS
from emoscope.corpus.mining.random_others import without_emotional

_PAIRS_SHOWN, _WORKERS_SHOWN = 15, 30


def agreement(
    files: FilesArgument,
    gold: Annotated[Path | None, typer.Option(help="Gold questions to leave out: a CSV with task,label.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Bootstrap samples for the intervals.")] = 2_000,
    seed: SeedOption = 0,
) -> CommandResult:
    """Compute Fleiss' kappa overall and per class, Krippendorff's alpha and pairwise agreement over all files.

    Items may have different numbers of judges. The 95 % intervals are bootstrapped over items.
    """
    panel = read_panel(files)
    if gold is not None:
        panel = without_gold(panel, gold)
        if not panel.votes:
            raise InputError(gold, "every judged task is a gold question, so no item is left to agree on")
    agreed = measure_agreement(panel.votes.values(), panel.judgements, samples=samples, seed=seed)
    return CommandResult(agreed, _agreement_tables(agreed))


def _agreement_tables(agreed: Agreement) -> Iterator[RenderableType]:
    pairwise = agreed.pairwise
    rows = [
        ["Fleiss' kappa", agreed.fleiss_kappa, _range(agreed.interval)],
        ["Krippendorff's alpha", agreed.krippendorff_alpha, _range(agreed.krippendorff_alpha_interval)],
        ["pairs of votes that agree", pairwise.agreement, _range(pairwise.interval)],
    ]
    if pairwise.pairs:
        rows.append(["Cohen's kappa, mean of pairs", pairwise.cohen_kappa, ""])
    yield table(f"Agreement on {agreed.items:,} items", ["measure", "value", "95 % interval"], rows)
    if agreed.left_out:
        yield f"{agreed.left_out:,} left out: fewer than two votes"
    per_class = [
        [coloured(escape(label)), agreed.votes[label], kappa, _range(agreed.per_class_interval[label])]
        for label, kappa in agreed.per_class.items()
    ]
    yield table("Fleiss' kappa per class", ["class", "votes", "kappa", "95 % interval"], per_class)
    if pairwise.pairs:
        pairs = [
            [*map(escape, pair.workers), pair.items, pair.agreement, pair.kappa, _range(pair.interval)]
            for pair in pairwise.pairs[:_PAIRS_SHOWN]
        ]
        more = len(pairwise.pairs) - _PAIRS_SHOWN
        title = "Pairs of annotators" + (f" ({more:,} more in --json)" if more > 0 else "")
        yield table(title, ["one", "other", "items", "agree", "Cohen's kappa", "95 % interval"], pairs, left=2)


def _range(interval: Interval | None) -> str:
    return "" if interval is None else f"{interval.low:.4f} to {interval.high:.4f}"


def aggregate(
    files: FilesArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the labels: .csv or .jsonl.")],
    method: Annotated[Method, typer.Option("--method", "-m", help="How to aggregate votes.")] = Method.majority,
    fallback: Annotated[
        str | None,
        typer.Option(
            help="Label for tied tasks; with `absolute`, for tasks without a majority (default: non-neutral)."
        ),
    ] = None,
    gold: GoldOption = None,
    min_gold: MinGoldOption = SCREENING_RULES.least_right,
    gold_least: GoldAnswersOption = None,
    vote_strings: Annotated[
        bool, typer.Option("--vote-strings", help="Also write the votes as EmotionX does: 2000030.")
    ] = False,
    discard_others: Annotated[
        Path | None,
        typer.Option(help="Candidates from `mine`: leave out its random dialogues that were judged emotional."),
    ] = None,
    neutral: Annotated[str, typer.Option(help="Label for no emotion, for --discard-others.")] = OTHERS,
) -> CommandResult:
    """Aggregate judgements into one label and soft labels per task, and report on the annotators.

    Ties without a fallback go to the label with more votes overall, then to the alphabetically first. Gold questions
    are left out of the output, and so are all judgements of workers who fail them.
    """
    if output.suffix not in (".csv", ".jsonl"):
        raise EmoscopeError(f"{output}: expected a name that ends in .csv or .jsonl")
    check_output(output, [*files, *(source for source in (gold, discard_others) if source)])
    rules = GoldRules(least_right=min_gold, least_answers=gold_least)
    if gold is None:
        own_share = min_gold != SCREENING_RULES.least_right
        check_goes_with("--gold", {"--min-gold": own_share, "--gold-least": gold_least is not None})
    labels, report = aggregate_panel(read_panel(files), method, fallback=fallback, gold=gold, rules=rules)
    judged = len(labels)
    if discard_others is None:
        check_goes_with("--discard-others", {"--neutral": neutral != OTHERS})
    else:
        labels = without_emotional(labels, discard_others, neutral)
    write_labels(output, labels, vote_strings=vote_strings)
    parts = [*_label_tables(labels, report), plain(f"wrote {output}")]
    more = {}
    if discard_others is not None:
        if neutral not in report.labels:
            hint = "if no emotion is called otherwise, give --neutral"
            parts.insert(-1, plain(f"no task got the label {neutral!r}; {hint}"))
        more["others_discarded"] = discarded = judged - len(labels)
        were = "was" if discarded == 1 else "were"
        parts.insert(-1, f"{counted(discarded, 'random dialogue')} {were} judged emotional and left out")
    return CommandResult({"output": output, "method": method.value, **asdict(report), **more}, parts)


def _label_tables(labels: Sequence[Aggregated], report: PanelReport) -> Iterator[RenderableType]:
    counts = Counter(result.label for result in labels).most_common()
    rows = [[coloured(escape(label)), count, f"{count / len(labels):.1%}"] for label, count in counts]
    yield table(f"{counted(len(labels), 'task')} labelled", ["label", "tasks", "share"], rows)
    notes = {
        "tied": report.tied,
        "given the fallback label": report.fallback,
        "without a label: judged only by refused workers": len(report.unlabelled_tasks),
    }
    yield "\n".join(f"{count:,} {what}" for what, count in notes.items() if count) or "no ties"
    for label, count in report.unused_answers.items():
        answered = f"the answer to {counted(count, 'gold question')}"
        yield plain(f"nobody gave the label {label!r}, {answered}: is it misspelt there?")
    if not report.workers:
        return
    shown = sorted(report.workers, key=lambda worker: (not worker.refused, -worker.judgements, worker.worker))
    columns = ["worker", "judgements", "agrees with label", "gold answers", "gold right", ""]
    people = [
        [
            escape(worker.worker),
            worker.judgements,
            worker.agreement,
            worker.gold_answers,
            worker.gold_accuracy,
            "refused" if worker.refused else "too few to judge" if worker.gold_answers and not worker.judged else "",
        ]
        for worker in shown[:_WORKERS_SHOWN]
    ]
    refused = sum(worker.refused for worker in report.workers)
    more = f", {len(shown) - _WORKERS_SHOWN:,} more in --json" if len(shown) > _WORKERS_SHOWN else ""
    discarded = f"{refused:,} refused, {counted(report.discarded_judgements, 'judgement')} discarded"
    yield table(f"{counted(len(shown), 'worker')}, {discarded}{more}", columns, people)


def human_study(
    files: FilesArgument,
    gold: Annotated[
        Path,
        typer.Option("--gold", "-g", help="Gold labels: a CSV with task,label, or with --task an official file."),
    ],
    task: Annotated[str | None, typer.Option("--task", "-t", help="Shared task of the --gold file.")] = None,
    by: Annotated[
        str | None, typer.Option(help="Also score by group: cue, length, emoji.  \\[default: cue, for iest]")
    ] = None,
    method: Annotated[
        Method, typer.Option("--method", "-m", help="How to aggregate judgements into one answer.")
    ] = Method.majority,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for one answer per item: task,label, or with --task a submission."),
    ] = None,
) -> CommandResult:
    """Score people's judgements against gold, individually and aggregated: best guess (top 1) and others (top 2).

    With --task and a judgement for every item, the output is a submission like any system's.
    """
    if output is not None:
        check_output(output, [*files, gold])
    right = GoldFile.read(gold, task)
    grouping = by or ("cue" if task == "iest" else None)
    panel = read_panel(files)
    if not panel.judgements:
        raise EmoscopeError("a human study needs the judges' names; these files have anonymous votes")
    group_of = None if grouping is None else right.grouping(grouping)
    study, answers = score_people(panel.judgements, right.labels, group_of=group_of, method=method)
    if output is not None:
        right.write_answers(output, answers)
    parts = [*_study_tables(study, grouping), *([plain(f"wrote {output}")] if output else [])]
    return CommandResult({"by": grouping, "output": output, **asdict(study)}, parts)


def human_sample(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="A labelled official file of the task.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for items.csv (to judge) and gold.csv.")],
    task: Annotated[str, typer.Option("--task", "-t", help="Shared task of FILE.")] = "iest",
    size: Annotated[int, typer.Option(min=1, help="Items per label and group.")] = 50,
    by: Annotated[str, typer.Option(help="Groups: cue, length, emoji and so on.")] = "cue",
    groups: Annotated[
        str | None,
        typer.Option(help="Groups to use.  \\[default: because,that,when, for cue]"),
    ] = None,
    gold_share: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Also write this share of the items, 0.05 in the paper, to gold-questions.csv for `annotate --gold`.",
        ),
    ] = None,
    seed: SeedOption = 1,
) -> CommandResult:
    """Draw a stratified sample for a human study: by default, IEST's 50 items for each of 6 emotions and 3 cues."""
    chosen = listed(groups) if groups else ["because", "that", "when"] if by == "cue" else None
    counts = write_study_sample(
        source, output, task=task, size=size, by=by, groups=chosen, gold_share=gold_share, seed=seed
    )
    names = sorted({group for row in counts.values() for group in row})
    rows = [[coloured(escape(label)), *(row.get(name, 0) for name in names)] for label, row in counts.items()]
    total = sum(sum(row.values()) for row in counts.values())
    parts: list[RenderableType] = [table(f"{total:,} items in {output}", ["label", *map(escape, names)], rows)]
    if gold_share is not None:
        # People guess only half of the tweets' own emotions, so nobody would pass with those.
        parts.append(
            plain(f"answer the questions in {output / GOLD_QUESTIONS} yourself: put your own best guess as label")
        )
    return CommandResult({"output": output, "items": total, "counts": counts, "seed": seed}, parts)


def _study_tables(study: HumanStudy, by: str | None) -> Iterator[RenderableType]:
    columns = ["", "items", "answers", "top 1", "top 2", "macro-F1", "together: top 1", "top 2", "macro-F1"]
    title = (
        f"{counted(study.alone.answers, 'judgement')} of {counted(study.items, 'item')} "
        f"by {counted(study.workers, 'worker')}"
    )
    yield table(title, columns, [_study_row("all", study)])
    for label, score in study.per_label.items():
        if not score.answers:
            times = counted(sum(row[label] for row in study.confusion.values()), "judgement")
            yield plain(f"no judged item has the gold label {label!r}, given in {times}: is it misspelt there?")
    notes = {
        "items with gold that nobody judged": study.unjudged,
        "judgements of items without gold, left out": study.without_gold,
    }
    named = f"{study.labels_named:.2f} labels named in a judgement"
    yield "\n".join([named, *(f"{count:,} {what}" for what, count in notes.items() if count)])
    if study.groups:
        yield table(f"By {by}", columns, [_study_row(escape(name), scores) for name, scores in study.groups.items()])
    rows = [[coloured(escape(label)), score.answers, score.right, score.f1] for label, score in study.per_label.items()]
    yield table("By gold label", ["label", "answers", "right", "F1"], rows)
    counts = [[coloured(escape(label)), *answers.values()] for label, answers in study.confusion.items()]
    yield table("Confusion matrix (gold in rows)", ["", *map(escape, study.confusion)], counts)


def _study_row(name: str, human: HumanScores) -> list[object]:
    alone, together = human.alone, human.together
    scores = [alone.top1, alone.top2, alone.macro_f1, together.top1, together.top2, together.macro_f1]
    return [name, human.items, alone.answers, *scores]
