"""WASSA-2018 IEST: the emotion of a word that was masked in a tweet."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import InputError
from emoscope.core.files import text_lines
from emoscope.core.metrics import standard_metric
from emoscope.tasks.base import Submitted, Task, is_label_list, label_lines
from emoscope.tasks.metadata import DataDownload, DataFile, DataRevision, TaskMetadata

_TRIGGER = re.compile(r"\[#(?:trigger|target)word#\]", re.IGNORECASE)
# What stands in the label column of a file whose labels are withheld.
_WITHHELD = {"", "unknown", "unk", "?", "-", "none"}
_HOME = "http://implicitemotions.wassa2018.com/data"


class Iest(Task):
    """Six emotions, nearly balanced; scored by macro-F1 over every label that occurs."""

    metadata = TaskMetadata(
        name="iest",
        title="WASSA-2018 Implicit Emotion Shared Task",
        description="The emotion of the word that was masked in a tweet, from the words around it.",
        labels=("anger", "disgust", "fear", "joy", "sad", "surprise"),
        neutral_label=None,
        metric=standard_metric("macro-f1"),  # over every label that occurs, so one outside the six lowers the mean
        citation=(
            "Klinger, De Clercq, Mohammad, Balahur (2018). "
            "IEST: WASSA-2018 Implicit Emotions Shared Task. WASSA-2018, 31-42."
        ),
        home=_HOME,
        terms="Distributed for the shared task; research use only. The training set needs the organisers' password.",
        folder="iest",
        data_format=(
            "`label<TAB>tweet` rows, or bare tweets; labels may lie apart in a `.labels` file of the same name."
        ),
        submission_format="one label a line.",
        revisions=(
            DataRevision(
                name="official",
                note="the official training, trial and test sets",
                splits={
                    "train": DataFile(name="train-v3.csv", examples=153383),
                    "dev": DataFile(name="trial-v3.csv", examples=9591),
                    "test": DataFile(name="test-text-labels.csv", examples=28757),
                },
                downloads=(
                    *(
                        DataDownload(url=f"{_HOME}/unprotected/{file}.gz", saves=(file,))
                        for file in ("trial-v3.csv", "trial-v3.labels", "test-text-labels.csv")
                    ),
                    DataDownload(url=f"{_HOME}/protected/train-v3.csv.gz", saves=("train-v3.csv",)),
                ),
            ),
            DataRevision(
                name="resplit",
                note="the official test set cut in two, in place of the training set that needs a password; "
                "its scores are not comparable with the published table",
                splits={
                    "train": DataFile(
                        name="labelled.csv",
                        examples=20128,
                        sha256="a9811be942f882409fa08632c13377655effa65a4543e03c3b4b44a915250364",
                    ),
                    "dev": DataFile(
                        name="trial.csv",
                        examples=9591,
                        sha256="abd9f6afcff60a062413fa68620cb6feb1e6e32e5bf74309b2b71d71205a5e2e",
                    ),
                    "test": DataFile(
                        name="heldout-unlabelled.csv",
                        labelled=False,
                        examples=8627,
                        sha256="d96dfbae9d2f1ccd370f9a161b0ff065b53d86ced57727e63440ea4753f84294",
                    ),
                },
            ),
        ),
    )

    sample = (
        "unknown\tI am [#TRIGGERWORD#] that you came\n"
        "unknown\tso [#TRIGGERWORD#] because it rains\n"
        "unknown\tun[#TRIGGERWORD#] when late\n"
    )

    def read(self, path: str | Path) -> Iterator[Example]:
        labels_file = Path(path).with_suffix(".labels")
        labels = _read_labels(self, labels_file) if labels_file.is_file() and labels_file != Path(path) else None
        columns = row = 0
        for row, line in text_lines(path):
            cells = line.split("\t", 1)
            columns = columns or len(cells)
            if len(cells) != columns:
                raise InputError(path, f"expected {columns} tab-separated columns, found {len(cells)}", row=row)
            label, tweet = (cells[0].strip(), cells[1]) if columns == 2 else ("", cells[0])
            if not _TRIGGER.search(tweet):
                raise InputError(path, "has no [#TRIGGERWORD#] in its tweet", row=row)
            if labels is not None:
                label = next(labels, "")
                if not label:
                    problem = f"has only {row - 1:,} labels, expected one for each row of {Path(path).name}"
                    raise InputError(labels_file, problem)
            elif label.lower() not in _WITHHELD:
                self.check_label(label, path, row)
            known = label if label in self.labels else None
            yield Example(Dialogue((Turn(tweet),), str(row - 1)), turn=0, label=known)
        if labels is not None and next(labels, None) is not None:
            problem = f"has more than {row:,} labels, expected one for each row of {Path(path).name}"
            raise InputError(labels_file, problem)

    def submission(
        self,
        answers: Sequence[tuple[Example, str]],
        author: Mapping[str, str],  # noqa: ARG002 - the format has no place for it
    ) -> Iterator[str]:
        return (f"{label}\n" for _, label in answers)

    def submitted(self, path: str | Path) -> Iterator[Submitted]:
        if not is_label_list(path):
            raise InputError(path, "expected one label a line and nothing else", row=1)
        return label_lines(path)

    def content(self, example: Example) -> tuple[str, ...]:  # noqa: ARG002
        """Nothing: a submission holds labels alone."""
        return ()


def _read_labels(task: Task, path: Path) -> Iterator[str]:
    for row, line in text_lines(path):
        task.check_label(line.strip(), path, row)
        yield line.strip()
