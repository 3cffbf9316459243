"""Filter a table of dialogues, and write the kept ones, the reasons for dropping others, and a report."""

import json
import shutil
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from emoscope import __version__
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import atomic_folder, write_json
from emoscope.corpus.filters.review import REVIEW, DialogueFilter
from emoscope.corpus.filters.row_turns import whole_dialogue, with_turns
from emoscope.corpus.filters.shipped import error_rates
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel import SERIAL, Executor
from emoscope.parallel.parts import PartFolder, batches, packed, unpacked
from emoscope.tables import Record, format_of, open_writer, read_records

DROPPED = "dropped.jsonl"
TO_REVIEW = "review.jsonl"
REPORT = "report.json"
_MANY = 0.5  # share of dropped dialogues that is worth a warning
_LOST, _FEW = 0.1, 20  # the same of one label, and how many rows that takes
_LABELS = 100  # a column with more values is not a label
PART = 512  # dialogues per part: the work a process loses when it is killed


@dataclass(slots=True)
class FilterReport:
    """One filter: dropped dialogues by reason, masked data in kept dialogues by kind, and measured error rates."""

    settings: dict[str, Any]
    dropped: dict[str, int] = field(default_factory=Counter)
    masked: dict[str, int] = field(default_factory=Counter)
    error_rates: Any = None


@dataclass(slots=True)
class TableReport:
    """The numbers of dialogues read, kept, dropped, to review and changed, the file of kept ones, and each filter."""

    read: int = 0
    kept: int = 0
    dropped: int = 0
    to_review: int = 0
    changed: int = 0
    unmatched_judgements: int = 0  # of tasks that are no borderline row
    file: str = ""
    filters: dict[str, FilterReport] = field(default_factory=dict)
    labels: dict[str, dict[str, int]] = field(default_factory=dict)  # read and kept, where rows have a column `label`

    def warnings(self) -> list[str]:
        """Warnings if many dialogues were dropped, or one label much more than the others.

        >>> TableReport(read=100, kept=40, dropped=60).warnings()
        ['60% of the dialogues were dropped; check which filter dropped them before you continue']
        """
        warnings = []
        if self.dropped > _MANY * self.read:
            share = f"{self.dropped / self.read:.0%} of the dialogues were dropped"
            warnings.append(f"{share}; check which filter dropped them before you continue")
        for label, counts in self.labels.items():
            own = counts["read"] - counts["kept"]
            rest = (self.dropped - own) / max(self.read - counts["read"], 1)
            if counts["read"] >= _FEW and own > counts["read"] * max(_LOST, 2 * rest):
                lost = f"{own / counts['read']:.0%} of {label} was dropped, {rest:.0%} of the rest"
                warnings.append(f"{lost}: this label is now rarer than in the input")
        return warnings


def filter_table(
    source: str,
    folder: str | Path,
    filters: Sequence[DialogueFilter],
    *,
    column: str | None = None,
    format: str | None = None,
    progress: ShowProgress = no_progress,
    executor: Executor = SERIAL,
    decisions: Mapping[str, str] | None = None,
) -> TableReport:
    """Write the dialogues that no filter drops into a new folder, which is complete or absent.

    With a filter named `review`, dialogues that it alone finds go to `review.jsonl`, with their id as `task`, unless
    `decisions` has `keep` or `drop` for that task.

    `kept.*` is in the format of the source, `dropped.jsonl` has the reasons for each dropped row (none of its text),
    and `report.json` the counts. Verdicts are in a hidden folder until the run is complete, so a killed run resumes.

    >>> import tempfile, pathlib
    >>> from emoscope.corpus.filters.offensive import OffensiveFilter
    >>> here = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (here / "a.csv").write_text("id,text\\n1,hello\\n2,you idiot\\n")
    >>> rude = OffensiveFilter(lambda texts: ["idiot" in text for text in texts], threshold=0.5)
    >>> filter_table(str(here / "a.csv"), here / "out", [rude]).kept
    1
    >>> (here / "out" / "dropped.jsonl").read_text()
    '{"row": 3, "id": "2", "reasons": [{"filter": "offensive", "reason": "offensive", "turn": 1, "score": 1.0}]}\\n'
    """
    if not filters:
        raise EmoscopeError("all filters are off; turn on at least one of offensive, sensitive, personal and language")
    report = TableReport()
    for each in filters:
        measured = error_rates().get(getattr(each, "measured", each.name))
        report.filters[each.name] = FilterReport(dict(each.settings), error_rates=measured)
    records = progress("filtering", read_records(source, format, column=column))
    depends = json.dumps({"emoscope": __version__, "filters": {each.name: dict(each.settings) for each in filters}})
    target = Path(folder).absolute()
    verdict_folder = PartFolder(target.with_name(f".{target.name}.said"), depends, ".jsonl")
    with atomic_folder(folder) as part, ExitStack() as stack:
        first = next(records, None)
        kind = format_of(source, format) or "jsonl"
        if kind == "text" and first is not None and set(first.columns) != {"turns"}:
            kind = "tsv"  # a table in a .txt
        report.file = f"kept.{'txt' if kind == 'text' else kind}"
        kept = stack.enter_context(open_writer(str(part / report.file), kind))
        dropped = stack.enter_context(open_writer(str(part / DROPPED)))
        review = ReviewQueue(source, decisions or {})
        pending: deque[Sequence[Record]] = deque()  # rows whose verdicts are still to come

        def parts() -> Iterator[bytes]:
            for rows in batches(chain([] if first is None else [first], records), PART):
                pending.append(rows)
                yield packed(whole_dialogue(record, column) for record in rows)

        for path in verdict_folder.fill(parts(), partial(apply_filters, tuple(filters)), executor):
            for record, line in zip(pending.popleft(), path.read_bytes().splitlines(), strict=True):
                verdict = json.loads(line)
                report.read += 1
                if review.takes(record, verdict):
                    continue
                _count(report, verdict)
                _count_label(report, record, kept="reasons" not in verdict)
                if reasons := verdict.get("reasons"):
                    name = record.columns.get("id")
                    dropped.write({"row": record.row, **({} if name is None else {"id": name}), "reasons": reasons})
                elif changed := verdict.get("changed"):
                    kept.write(with_turns(record, unpacked(changed.encode())[0], column))
                else:
                    kept.write(record.columns)
        stack.close()
        report.labels = report.labels if len(report.labels) <= _LABELS else {}
        if review.rows:
            (part / TO_REVIEW).write_text(
                "".join(json.dumps(row) + "\n" for row in review.rows.values()), encoding="utf-8"
            )
        report.to_review, report.unmatched_judgements = len(review.rows), len(review.decisions)
        for counts in report.filters.values():
            counts.dropped, counts.masked = dict(sorted(counts.dropped.items())), dict(sorted(counts.masked.items()))
        write_json(part / REPORT, asdict(report))
    shutil.rmtree(verdict_folder.folder, ignore_errors=True)
    return report


def apply_filters(filters: Sequence[DialogueFilter], part: bytes) -> bytes:
    """Run filters over the dialogues of a part, in one process; later filters see text that earlier ones masked.

    Each line has the `reasons` to drop a dialogue, the counts each filter `masked`, and the `changed` dialogue, if any.

    >>> from emoscope.core.dialogue import Dialogue
    >>> from emoscope.corpus.filters.offensive import OffensiveFilter
    >>> rude = OffensiveFilter(lambda texts: ["idiot" in text for text in texts], threshold=0.5)
    >>> apply_filters([rude], packed([Dialogue.of(["hello"]), Dialogue.of(["you idiot"])])).splitlines()
    [b'{}', b'{"reasons": [{"filter": "offensive", "reason": "offensive", "turn": 1, "score": 1.0}]}']
    """
    before = dialogues = unpacked(part)
    verdicts: list[dict[str, Any]] = [{} for _ in before]
    for each in filters:
        reviews = each.review(dialogues)
        dialogues = [review.dialogue for review in reviews]
        for verdict, review in zip(verdicts, reviews, strict=True):
            if review.reason is not None:
                reason = {"filter": each.name, "reason": review.reason, **review.details}
                verdict.setdefault("reasons", []).append(reason)
            if review.masked:
                verdict.setdefault("masked", {})[each.name] = dict(review.masked)
    for verdict, old, new in zip(verdicts, before, dialogues, strict=True):
        # People need not judge what another filter drops.
        if final := [reason for reason in verdict.get("reasons", ()) if reason["filter"] != REVIEW]:
            verdict["reasons"] = final
        elif new != old:
            verdict["changed"] = packed([new]).decode()
    return "".join(json.dumps(verdict) + "\n" for verdict in verdicts).encode()


def _count_label(report: TableReport, record: Record, *, kept: bool) -> None:
    label = record.columns.get("label")
    if isinstance(label, str) and label and len(report.labels) <= _LABELS:
        counts = report.labels.setdefault(label, {"read": 0, "kept": 0})
        counts["read"] += 1
        counts["kept"] += kept


class ReviewQueue:
    """The rows that people should judge, by task, and their decisions that have not been applied yet."""

    def __init__(self, source: str, decisions: Mapping[str, str]) -> None:
        self.source = source
        self.rows: dict[str, dict[str, Any]] = {}  # few, or the threshold is too low
        self.decisions = dict(decisions)

    def takes(self, record: Record, verdict: dict[str, Any]) -> bool:
        """Whether a row has to wait for people; if they decided on it, the verdict becomes theirs."""
        reasons = verdict.get("reasons")
        if not reasons or reasons[0]["filter"] != REVIEW:
            return False
        name = record.columns.get("id")
        task = str(record.row if name is None else name)
        decision = self.decisions.pop(task, None)
        if decision is None:
            if task in self.rows:
                raise InputError(self.source, f"its id {task!r} is that of another row to review", row=record.row)
            dialogue = unpacked(verdict["changed"].encode())[0] if "changed" in verdict else record.dialogue
            self.rows[task] = {"task": task, "turns": list(dialogue.texts)}
        elif decision == "keep":
            del verdict["reasons"]
        else:
            reasons[0]["reason"] = "judged drop"
        return decision is None


def _count(report: TableReport, verdict: Mapping[str, Any]) -> None:
    if reasons := verdict.get("reasons"):
        report.dropped += 1
        for reason in reasons:
            report.filters[reason["filter"]].dropped[reason["reason"]] += 1
        return
    report.kept += 1
    report.changed += "changed" in verdict
    for name, counts in verdict.get("masked", {}).items():
        for kind, number in counts.items():
            report.filters[name].masked[kind] += number
