"""The steps that gather dialogues: collect, windows, sample, dedupe."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.dedupe.duplicates import THRESHOLD, DuplicateFinder
from emoscope.corpus.pipeline.rows import ROWS, dialogue_of, read_rows, rows_file, turns_of, wordings_of
from emoscope.corpus.pipeline.step import Counts, Stage, Step, Work
from emoscope.corpus.sources.exports import read_chat
from emoscope.corpus.sources.windows import sample, windows
from emoscope.tables import read_records

if TYPE_CHECKING:
    from emoscope.corpus.pipeline.plan import Plan

InputFormat = Literal["csv", "tsv", "jsonl", "parquet", "text", "whatsapp", "telegram", "slack", "discord"]
_CHATS = ("whatsapp", "telegram", "slack", "discord")
ROLES = ("user", "agent", "user")


class Source(BaseModel):
    """Files to collect, and what they are; a table's suffix tells by itself."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    format: InputFormat | None = None
    column: str | None = None  # where each row's one text is, if it is not called `text`


class Collect(Step):
    """Read logs of any kind into dialogues. A chat's dialogue ends when nobody writes for `gap_minutes`."""

    name: ClassVar[str] = "collect"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.NOTHING})
    gives: ClassVar[Stage | None] = Stage.DIALOGUES

    inputs: tuple[Source, ...] = Field(min_length=1)
    gap_minutes: float = Field(default=60.0, gt=0)

    def check(self, plan: "Plan") -> None:
        """Each input must be there."""
        for source in self.inputs:
            if not plan.files([source.path]):
                raise EmoscopeError(f"no file matches {source.path!r} in {plan.path.parent}")

    def outside(self, plan: "Plan") -> Sequence[Path]:
        """All files of all inputs; a folder (Slack's) stands for every file in it."""
        return [
            file
            for path, _ in self._named(plan).values()
            for file in (sorted(path.rglob("*.json")) if path.is_dir() else [path])
        ]

    def run(self, work: Work) -> Counts:
        """Write every dialogue with an id made of its file's name and its place there."""
        counts = Counts()
        dropped: Counter[str] = Counter()
        inputs: dict[str, int] = {}
        with rows_file(work.folder) as out:
            for name, (path, source) in self._named(work.plan).items():
                before = out.written
                for dialogue in work.watch(f"reading {path.name}", self._read(path, name, source, dropped)):
                    counts.read += 1
                    if not any(text.strip() for text in dialogue.texts):
                        counts.dropped["empty"] += 1
                        continue
                    out.write({"id": dialogue.id, "source": dialogue.id, "turns": turns_of(dialogue)})
                inputs[work.plan.shown(path)] = out.written - before
            counts.written = out.written
        counts.more["dialogues_of_each_input"] = inputs
        if dropped:
            counts.more["chat_entries_left_out"] = {str(reason): dropped[reason] for reason in sorted(dropped)}
        return counts

    def _named(self, plan: "Plan") -> dict[str, tuple[Path, Source]]:
        """The files, each by a name of its own."""
        found: dict[str, tuple[Path, Source]] = {}
        times: Counter[str] = Counter()
        for source in self.inputs:
            for path in plan.files([source.path]):
                times[path.stem] += 1
                name = path.stem if times[path.stem] == 1 else f"{path.stem}-{times[path.stem]}"
                found[name] = (path, source)
        return found

    def _read(self, path: Path, name: str, source: Source, dropped: Counter[str]) -> Iterator[Dialogue]:
        if source.format in _CHATS:
            gap = timedelta(minutes=self.gap_minutes)
            for dialogue in read_chat(path, str(source.format), gap=gap, dropped=dropped):
                yield Dialogue(dialogue.turns, f"{name}:{str(dialogue.id).partition(':')[2]}")
            return
        for record in read_records(str(path), source.format, column=source.column, replace_surrogates=True):
            yield Dialogue(record.dialogue.turns, f"{name}:{record.row}")


class Windows(Step):
    """Cut dialogues into three turns, user, agent, user; who they were is not kept.

    Where speakers are known, `users` names those whose turns begin and end a window, or `agents` those who stand
    between them; without either, anyone may be either.
    """

    name: ClassVar[str] = "windows"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})

    users: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()

    def run(self, work: Work) -> Counts:
        """Write every window; counts also say how many dialogues had none."""
        counts = Counts()
        with rows_file(work.folder) as out:
            for row in work.watch("cutting windows", read_rows(work.before)):
                counts.read += 1
                before = out.written
                for window in filter(self._fits, windows(dialogue_of(row))):
                    said = zip(ROLES, window.texts, strict=True)
                    turns = [{"speaker": role, "text": text} for role, text in said]
                    out.write({"id": window.id, "source": row["source"], "turns": turns})
                counts.dropped["no window of user, agent, user"] += out.written == before
            counts.written = out.written
        return counts

    def _fits(self, window: Dialogue) -> bool:
        first, agent, _ = (turn.speaker for turn in window.turns)
        if first is None or agent is None:
            return True
        named = not self.users or first in self.users
        return named and (not self.agents or (agent in self.agents and first not in self.agents))


class Sample(Step):
    """So many dialogues, drawn at random."""

    name: ClassVar[str] = "sample"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})

    size: int = Field(ge=1)

    def run(self, work: Work) -> Counts:
        """Copy the lines that were drawn; only they are held in memory."""
        counts = Counts()

        def lines() -> Iterator[str]:
            with (work.before / ROWS).open(encoding="utf-8", newline="\n") as handle:
                for line in handle:
                    counts.read += 1
                    yield line

        drawn = sample(work.watch("drawing a sample", lines()), self.size, seed=work.plan.about.seed)
        with (work.folder / ROWS).open("w", encoding="utf-8", newline="\n") as handle:
            handle.writelines(drawn)
        counts.written = len(drawn)
        counts.dropped["not drawn"] = counts.read - counts.written
        return counts


class Dedupe(Step):
    """Drop exact and near copies of earlier dialogues."""

    name: ClassVar[str] = "dedupe"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES, Stage.LABELLED})

    threshold: float = Field(default=THRESHOLD, ge=0.5, le=1.0)

    def run(self, work: Work) -> Counts:
        """Read once to find copies, and again to write what stays."""
        counts = Counts()
        finder = DuplicateFinder(threshold=self.threshold, spread=work.tools.spread)
        for item, row in enumerate(work.watch("looking for copies", read_rows(work.before))):
            for text in wordings_of(row):
                finder.add(item, text)
        copies = {copy.item: "exact copy" if copy.exact else "near copy" for copy in finder.duplicates()}
        with rows_file(work.folder) as out:
            for item, row in enumerate(work.watch("dropping copies", read_rows(work.before))):
                counts.read += 1
                if item in copies:
                    counts.dropped[copies[item]] += 1
                else:
                    out.write(row)
            counts.written = out.written
        return counts
