"""SemEval-2019 Task 3, EmoContext: the emotion of the last of three turns between a user and an agent."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import text_lines
from emoscope.core.metrics import Metric, micro_f1
from emoscope.tasks.base import Submitted, Task
from emoscope.tasks.metadata import DataDownload, DataFile, DataRevision, TaskMetadata

_COLUMNS = ("id", "turn1", "turn2", "turn3")
_SPEAKERS = ("user", "agent", "user")
_HOME = "https://raw.githubusercontent.com/chenyangh/SemEval2019Task3/master/data"
_TRAIN = DataFile(
    name="train.txt",
    examples=30160,
    sha256="d5f81ece09dd164dd672082bbadf8730137301f810223d1966f8b0efca312cd2",
)
_DEV = DataFile(
    name="dev.txt", examples=2755, sha256="669aa7f9f12d2b28a3d44ffcd93ddad069670e60f55b4c8ee914cfefcf777c07"
)


class EmoContext(Task):
    """Four classes, one of them "others"; scored by micro-F1 over the other three."""

    metadata = TaskMetadata(
        name="emocontext",
        title="SemEval-2019 Task 3: EmoContext",
        description="The emotion of a user's turn, given the two turns before it (user, agent, user).",
        labels=("others", "happy", "sad", "angry"),
        neutral_label="others",
        # "others" enters only through what was missed or wrongly chosen.
        metric=Metric(
            "micro-f1", "micro-averaged F1 over happy, sad and angry", micro_f1, labels=("happy", "sad", "angry")
        ),
        citation=(
            "Chatterjee, Narahari, Joshi, Agrawal (2019). SemEval-2019 Task 3: EmoContext, "
            "Contextual Emotion Detection in Text. SemEval-2019, 39-48."
        ),
        home="https://github.com/chenyangh/SemEval2019Task3",
        terms="Distributed for the shared task; research use only.",
        folder="emocontext",
        data_format="`train.txt`, `dev.txt` or a test file, with or without the label column.",
        submission_format="the test file with a label column.",
        revisions=(
            DataRevision(
                name="unlabelled-test",
                note="as given to participants: Train, Test1 with labels, Test2 without",
                splits={
                    "train": _TRAIN,
                    "dev": _DEV,
                    "test": DataFile(
                        name="testwithoutlabels.txt",
                        labelled=False,
                        examples=5509,
                        sha256="55a6a7213b23b7b4211d3b94776c8130655afd120edf9ffaa1cfaf77fa616da5",
                    ),
                },
            ),
            DataRevision(
                name="labelled-test",
                note="as published after the task: Train, Test1 and Test2",
                splits={"train": _TRAIN, "dev": _DEV, "test": DataFile(name="test.txt", examples=5509)},
                downloads=tuple(
                    DataDownload(url=f"{_HOME}/{file}", sha256=sha256, saves=(file,))
                    for file, sha256 in (
                        ("train.txt", _TRAIN.sha256),
                        ("dev.txt", _DEV.sha256),
                        ("test.txt", None),
                    )
                ),
            ),
        ),
        natural_prior={"others": 2338 / 2755, "happy": 142 / 2755, "sad": 125 / 2755, "angry": 150 / 2755},
        natural_prior_source="Test1, a random sample of real traffic (Table 2 of the paper)",
    )

    sample = 'id\tturn1\tturn2\tturn3\n0\thi\thello\tI am sad\n1\tno\twhy\t"quoted\n2\ta\tb\tc 😂\n'

    def read(self, path: str | Path) -> Iterator[Example]:
        labelled: bool | None = None
        seen: set[str] = set()
        row = 0
        for row, line in text_lines(path):
            cells = line.split("\t")
            if labelled is None:
                labelled = _has_labels(path, cells)
                continue
            example = _example(path, row, cells, labelled)
            if labelled and example.label is None:
                raise InputError(path, "label is missing", row=row)
            self.check_label(example.label, path, row)
            identity = str(example.dialogue.id)
            if identity in seen:
                raise InputError(path, f"id {identity!r} was used already", row=row)
            seen.add(identity)
            yield example
        if row < 2:
            raise InputError(path, "has a header but no rows")

    def submission(
        self,
        answers: Sequence[tuple[Example, str]],
        author: Mapping[str, str],  # noqa: ARG002 - the format has no place for it
    ) -> Iterator[str]:
        yield "\t".join((*_COLUMNS, "label")) + "\n"
        for example, label in answers:
            if any("\t" in text or "\n" in text for text in example.dialogue.texts):
                raise EmoscopeError(
                    f"dialogue {example.dialogue.id}: a turn holds a tab or line break; this format cannot"
                )
            yield "\t".join((*self.content(example), label)) + "\n"

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        for row, line in text_lines(path):
            cells = line.split("\t")
            if row > 1:
                example = _example(path, row, cells, labelled=True)
                yield Submitted(f"row {row}", example.label, self.content(example), example.dialogue.id)
            elif not _has_labels(path, cells):
                raise InputError(path, "has no 'label' column; a submission is the test file with one", row=row)

    def content(self, example: Example) -> tuple[str, ...]:
        return (str(example.dialogue.id), *example.dialogue.texts)


def _has_labels(path: str | Path, header: Sequence[str]) -> bool:
    """Whether the header names a label column; anything but an official header is an error."""
    names = tuple(cell.strip() for cell in header)
    if names == (*_COLUMNS, "label"):
        return True
    if names == _COLUMNS:
        return False
    shown = " ".join(names)[:60]
    raise InputError(
        path, f"expected the header 'id turn1 turn2 turn3 [label]' (tab-separated), found {shown!r}", row=1
    )


def _example(path: str | Path, row: int, cells: Sequence[str], labelled: bool) -> Example:
    width = 5 if labelled else 4
    if len(cells) != width:
        raise InputError(path, f"expected {width} tab-separated columns, found {len(cells)}", row=row)
    if not cells[0].strip():
        raise InputError(path, "id is missing", row=row)
    turns = tuple(Turn(text, speaker) for text, speaker in zip(cells[1:4], _SPEAKERS, strict=True))
    label = (cells[4].strip() or None) if labelled else None
    return Example(Dialogue(turns, cells[0]), turn=2, label=label)
