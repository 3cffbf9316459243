"""The step `aggregate`: turn annotators' judgements into one label per dialogue."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pydantic import Field

from emoscope.core.errors import EmoscopeError, InputError, did_you_mean
from emoscope.core.files import write_json
from emoscope.corpus.annotation.aggregate import Aggregated, Method, aggregate
from emoscope.corpus.annotation.agreement_report import measure_agreement
from emoscope.corpus.annotation.annotations import votes_of
from emoscope.corpus.annotation.files import files_in, read_annotations
from emoscope.corpus.annotation.gold_questions import GoldRules
from emoscope.corpus.annotation.workers import SCREENING_RULES, read_gold, screen, worker_reports
from emoscope.corpus.mining.mine import OTHERS
from emoscope.corpus.pipeline.annotate import TASKS_FILE
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import Row, read_rows
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext, WaitingError

AGREEMENT, WORKERS = "agreement.json", "workers.json"


class AggregateStep(PipelineStep):
    """Give each dialogue one label from its judgements; wait until there are any."""

    takes = frozenset({Stage.TASKS})
    gives = Stage.LABELLED

    judgements: tuple[str, ...] = Field(min_length=1)
    method: Method = Method.majority
    fallback: str | None = None
    gold: str | None = None
    min_gold: float = Field(default=SCREENING_RULES.least_right, ge=0, le=1)
    gold_least: int | None = Field(default=None, ge=1)  # None: the sequential test, as on the annotation page
    min_votes: int = Field(default=1, ge=1)
    discard_emotional_others: bool = False  # drop what `mine` drew as others and judges labelled emotional

    def check(self, plan: CorpusPlan) -> None:
        if self.gold is not None and not plan.files([self.gold]):
            raise EmoscopeError(f"no file {self.gold!r} with gold questions in {plan.path.parent}")

    def external_files(self, plan: CorpusPlan) -> Sequence[Path]:
        paths = plan.files([*self.judgements, *(() if self.gold is None else (self.gold,))])
        return [file for path in paths for file in (files_in([path]) if path.is_dir() else [path])]

    def run(self, context: StepContext) -> None:
        results = self._results(context)
        info = context.plan.info

        def labelled(row: Row) -> Row | str:
            result = results.get(row["id"])
            if result is None:
                return "no judgement"
            if sum(result.votes.values()) < self.min_votes:
                return f"fewer than {self.min_votes} judgements"
            if result.label not in info.labels:
                return f"label {result.label!r} is not the plan's"
            if self.discard_emotional_others and row.get("draw") == OTHERS and result.label != info.neutral:
                return "drawn as others, but emotional"
            soft = {label: round(value, 6) for label, value in result.soft.items()}
            return {**row, "label": result.label, "votes": dict(result.votes), "soft": soft}

        context.rewrite("labelling", labelled)

    def _results(self, context: StepContext) -> dict[str, Aggregated]:
        """The label of each task; reports on agreement and annotators are written, and judgements counted."""
        plan, tasks_file = context.plan, context.input / TASKS_FILE
        files = plan.files(self.judgements)
        if not files:
            raise WaitingError(
                f"label {tasks_file} (`emoscope corpus annotate` or doccano; tasks.json is for Label "
                f"Studio), put the judgements where the plan looks for them ({', '.join(self.judgements)} in "
                f"{plan.path.parent}), and run this again"
            )
        gold = {} if self.gold is None else read_gold(plan.files([self.gold])[0])
        for task, label in gold.items():
            if label not in plan.info.labels:
                problem = f"task {task!r} has the label {label!r}, not one of the plan's"
                raise InputError(self.gold or "", f"{problem}; {did_you_mean(label, plan.info.labels)}")
        tasks = {*(row["id"] for row in read_rows(context.input)), *gold}
        everything = read_annotations(files).judgements
        judgements = [one for one in everything if one.task in tasks]
        if not judgements:
            raise EmoscopeError(f"none of the {len(everything):,} judgements is of a task in {tasks_file}")
        screening = screen(judgements, gold, GoldRules(least_right=self.min_gold, least_answers=self.gold_least))
        if not screening.kept:
            raise EmoscopeError("no judgement is left: all are of gold questions or by refused annotators")
        results = aggregate(screening.kept, self.method, fallback=self.fallback)
        context.counts.more |= {
            "judgements": len(judgements),
            "annotators": len({one.worker for one in judgements}),
            "annotators_refused": len(screening.refused),
            "judgements_discarded": len(screening.discarded),
            "tied": sum(result.tied for result in results),
            "given_the_fallback_label": sum(result.fallback for result in results),
            "judgements_of_other_tasks": len(everything) - len(judgements),
        }
        votes = votes_of(screening.kept)
        agreement = None
        if any(sum(counted.values()) > 1 for counted in votes.values()):
            agreement = asdict(measure_agreement(votes.values(), screening.kept, seed=plan.info.seed))
        write_json(context.folder / AGREEMENT, agreement)
        write_json(context.folder / WORKERS, [asdict(worker) for worker in worker_reports(screening, results)])
        return {result.task: result for result in results}
