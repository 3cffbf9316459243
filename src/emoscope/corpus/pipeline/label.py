"""The steps that give labels: annotate and aggregate, where people judge, or distant, where nobody needs to."""

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.annotation.aggregate import Aggregated, Method, aggregate
from emoscope.corpus.annotation.agreement_report import measure_agreement
from emoscope.corpus.annotation.annotations import Annotations, Judgement, votes_of
from emoscope.corpus.annotation.files import files_in, read_annotations, write_annotations
from emoscope.corpus.annotation.items import annotations_of, items_of
from emoscope.corpus.annotation.workers import GOLD_LEAST, MIN_GOLD, read_gold, sift, worker_report
from emoscope.corpus.pipeline.artefacts import write_json
from emoscope.corpus.pipeline.rows import dialogue_of, read_rows, rows_file, text_of
from emoscope.corpus.pipeline.step import Counts, Stage, Step, WaitingError, Work
from emoscope.corpus.sources.distant import Reason, label_text

if TYPE_CHECKING:
    from emoscope.corpus.pipeline.plan import Plan

TASKS_FILE = "tasks.jsonl"
AGREEMENT, WORKERS = "agreement.json", "workers.json"


class Annotate(Step):
    """Write the tasks to be labelled, for doccano and our own page (`tasks.jsonl`) and Label Studio (`tasks.json`)."""

    name: ClassVar[str] = "annotate"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})
    gives: ClassVar[Stage | None] = Stage.TASKS

    def run(self, work: Work) -> Counts:
        """The tasks, and the dialogues themselves for the step that puts labels to them."""
        counts = Counts()

        def passing() -> Any:
            with rows_file(work.folder) as out:
                for row in work.watch("writing tasks", read_rows(work.before)):
                    out.write(row)
                    yield dialogue_of(row)
                counts.read = counts.written = out.written

        tasks: Annotations = annotations_of(items_of(passing()), ())
        for name in (TASKS_FILE, "tasks.json"):
            write_annotations(work.folder / name, tasks)
        return counts


class Aggregate(Step):
    """Read what annotators said, and give each dialogue one label. Waits until there are judgements."""

    name: ClassVar[str] = "aggregate"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.TASKS})
    gives: ClassVar[Stage | None] = Stage.LABELLED

    judgements: tuple[str, ...] = Field(min_length=1)
    method: Method = Method.majority
    fallback: str | None = None
    gold: str | None = None
    min_gold: float = Field(default=MIN_GOLD, ge=0, le=1)
    gold_least: int = Field(default=GOLD_LEAST, ge=1)
    min_votes: int = Field(default=1, ge=1)

    def check(self, plan: "Plan") -> None:
        """The gold questions must be there from the start."""
        if self.gold is not None and not plan.files([self.gold]):
            raise EmoscopeError(f"no file {self.gold!r} with gold questions in {plan.path.parent}")

    def outside(self, plan: "Plan") -> Sequence[Path]:
        """The judgements and the gold questions."""
        gold = () if self.gold is None else (self.gold,)
        found = plan.files([*self.judgements, *gold])
        return [file for path in found for file in (files_in([path]) if path.is_dir() else [path])]

    def run(self, work: Work) -> Counts:
        """Write the dialogues that have a label of the plan's, how well annotators agree, and how each one did."""
        files = work.plan.files(self.judgements)
        if not files:
            raise WaitingError(
                f"label {work.before / TASKS_FILE} (`emoscope corpus annotate` or doccano; tasks.json is for Label "
                f"Studio), put the judgements where the plan looks for them ({', '.join(self.judgements)} in "
                f"{work.plan.path.parent}), and run this again"
            )
        asked = {row["id"] for row in read_rows(work.before)}
        gold = {} if self.gold is None else read_gold(work.plan.files([self.gold])[0])
        judged = read_annotations(files).judgements
        said = [one for one in judged if one.task in asked or one.task in gold]
        if not said:
            raise EmoscopeError(f"none of the {len(judged):,} judgements is of a task in {work.before / TASKS_FILE}")
        labels, counts = self._labels(work, said, gold)
        counts.more["judgements_of_other_tasks"] = len(judged) - len(said)
        with rows_file(work.folder) as out:
            for row in work.watch("labelling", read_rows(work.before)):
                counts.read += 1
                one = labels.get(row["id"])
                if (reason := self._refused(one, work.plan.about.labels)) is not None or one is None:
                    counts.dropped[str(reason)] += 1
                    continue
                out.write({**row, "label": one.label, "votes": dict(one.votes), "soft": _rounded(one.soft)})
            counts.written = out.written
        return counts

    def _labels(
        self, work: Work, said: Sequence[Judgement], gold: Mapping[str, str]
    ) -> tuple[dict[str, Aggregated], Counts]:
        sifted = sift(said, gold, min_gold=self.min_gold, gold_least=self.gold_least)
        if not sifted.kept:
            raise EmoscopeError("no judgement is left: all are of gold questions or by refused annotators")
        found = aggregate(sifted.kept, self.method, fallback=self.fallback)
        counts = Counts()
        counts.more |= {
            "judgements": len(said),
            "annotators": len({one.worker for one in said}),
            "annotators_refused": len(sifted.refused),
            "judgements_discarded": len(sifted.discarded),
            "tied": sum(one.tied for one in found),
            "given_the_fallback_label": sum(one.fallback for one in found),
        }
        votes = votes_of(sifted.kept)
        several = any(sum(counted.values()) > 1 for counted in votes.values())
        agreement = (
            measure_agreement(votes.values(), sifted.kept, seed=work.plan.about.seed).as_dict() if several else None
        )
        write_json(work.folder / AGREEMENT, agreement)
        write_json(work.folder / WORKERS, [worker.as_dict() for worker in worker_report(sifted, found)])
        return {one.task: one for one in found}, counts

    def _refused(self, one: Aggregated | None, labels: Sequence[str]) -> str | None:
        if one is None:
            return "no judgement"
        if sum(one.votes.values()) < self.min_votes:
            return f"fewer than {self.min_votes} judgements"
        return None if one.label in labels else f"label {one.label!r} is not the plan's"


class Distant(Step):
    """Label texts by the emotion word they hold before "that", "because" or "when", and mask it, as IEST did."""

    name: ClassVar[str] = "distant"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})
    gives: ClassVar[Stage | None] = Stage.LABELLED

    def check(self, plan: "Plan") -> None:
        """The plan's labels must be emotions that have words."""
        if unknown := [label for label in plan.about.labels if label not in TRIGGERS]:
            raise EmoscopeError(f"no emotion words for the label {unknown[0]!r}; there are: {', '.join(TRIGGERS)}")

    def run(self, work: Work) -> Counts:
        """Write the texts that are examples, each once."""
        counts = Counts()
        seen: set[bytes] = set()
        dropped: Counter[str] = Counter()
        with rows_file(work.folder) as out:
            for row in work.watch("labelling by emotion words", read_rows(work.before)):
                counts.read += 1
                tweet = label_text(text_of(row))
                if isinstance(tweet, Reason):
                    dropped[tweet.value] += 1
                    continue
                digest = blake2b(tweet.text.encode(), digest_size=16).digest()
                if digest in seen:
                    dropped[Reason.DUPLICATE.value] += 1
                elif tweet.emotion not in work.plan.about.labels:
                    dropped[f"label {tweet.emotion!r} is not the plan's"] += 1
                else:
                    seen.add(digest)
                    out.write({**row, "turns": [{"text": tweet.text}], "label": tweet.emotion})
            counts.written = out.written
        counts.dropped = dropped
        return counts


def _rounded(soft: Mapping[str, float]) -> dict[str, float]:
    return {label: round(value, 6) for label, value in soft.items()}
