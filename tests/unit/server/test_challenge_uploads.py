"""Hostile uploads: each gets a clear refusal and leaves nothing behind."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emoscope.core.errors import InputError
from emoscope.server.challenge.services.actor import OPERATOR, Actor
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.submissions import list_submissions, submit
from emoscope.server.challenge.services.uploads import line_limit, refusals
from emoscope.server.errors import Invalid, Rejected, TooLarge
from emoscope.server.store import Store
from emoscope.tasks import get_task
from kits.challenge_kit import GOLD, Clock, answer, made_challenge, opened_store, phase, rows_of, team
from kits.task_files import emotionx_file, iest_file


def zip_bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("answers.txt", b"0" * 50_000_000)
    return out.getvalue()


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "zip bomb": (zip_bomb, "is a zip archive or office document; send the plain text file"),
    "gzip": (lambda: gzip.compress(rows_of(GOLD).encode()), "is a gzip archive"),
    "UTF-16": (lambda: rows_of(GOLD).encode("utf-16"), "is UTF-16, expected UTF-8"),
    "NUL bytes": (lambda: rows_of(GOLD).replace("tell me", "tell\0me", 1).encode(), "row 2: contains a NUL byte"),
    "not UTF-8": (lambda: rows_of(GOLD).replace("tell", "t\xe9ll").encode("latin-1"), "row 2: not valid UTF-8"),
    "long line": (
        lambda: b"id\tturn1\tturn2\tturn3\tlabel\n" + b"x" * 1_200_000,
        "row 2: line is longer than 1,048,576",
    ),
    "no line end": (lambda: b"x" * 1_200_000, "row 1: line is longer than 1,048,576"),
    "very many lines": (lambda: b"x\n" * 600_000, "has more than 10,160 lines for 8 items"),
    "formula": (
        lambda: rows_of(["=cmd|' /C calc'!A0", *GOLD[1:]]).encode(),
        "row 2: unknown label \"=cmd|' /C calc'!A0\"",
    ),
    "HTML": (lambda: rows_of(["<script>", *GOLD[1:]]).encode(), "row 2: unknown label '<script>'"),
    "NaN": (lambda: rows_of(["NaN", *GOLD[1:]]).encode(), "row 2: unknown label 'NaN'"),
    "terminal codes": (lambda: rows_of(["\x1b[2J", *GOLD[1:]]).encode(), "row 2: unknown label '\\x1b[2J'"),
    "empty": (lambda: b"", "is empty"),
    "no label column": (lambda: rows_of(None).encode(), "has no 'label' column"),
    "altered": (
        lambda: rows_of(GOLD).replace("hello 1", "hello x").encode(),
        "row 3: differs from the unlabelled file",
    ),
    "PDF": (lambda: b"%PDF-1.7 ...", "is a PDF"),
}


@pytest.fixture
def ready(tmp_path: Path) -> Iterator[tuple[Store, Actor]]:
    with opened_store("sqlite", tmp_path, Clock()) as store:
        phases = phase("practice", per_day=3, rejected_per_day=1000, max_bytes=2_000_000)
        yield store, team(store, made_challenge(store, tmp_path, phases=phases))[0]


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_upload_is_refused_with_its_reason(kind: str, ready: tuple[Store, Actor]) -> None:
    store, ana = ready
    make, reason = HOSTILE[kind]
    with pytest.raises(Rejected) as refused:
        submit(store, ana, "mine", "practice", io.BytesIO(make()), file_name="answers.txt")
    assert refused.value.rows[0].startswith("answers.txt")
    assert reason in refused.value.rows[0]
    assert str(store.data_dir) not in " ".join(refused.value.rows)
    assert all(line.isprintable() and len(line) <= 400 for line in refused.value.rows)
    assert list((store.files.root / "incoming").iterdir()) == []
    assert list((store.files.root / "submissions").iterdir()) == []
    assert list_submissions(store, ana, "mine")[0].state == "rejected"


class Endless:
    """A gigabyte line, and more of it: it never ends."""

    given = 0

    def read(self, size: int, /) -> bytes:
        self.given += size
        return b"x" * size


def test_an_endless_upload_is_cut_off_at_the_limit(ready: tuple[Store, Actor]) -> None:
    store, ana = ready
    upload = Endless()
    with pytest.raises(TooLarge, match="larger than the limit of 2,000,000 bytes"):
        submit(store, ana, "mine", "practice", upload, file_name="answers.txt")
    assert upload.given < 2_200_000
    assert list_submissions(store, ana, "mine") == []


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "a/b.txt", "C:\\x.txt", "..", "", "a\nb", "a\x00b", "x" * 101, "\u202egnp.exe"]
)
def test_invalid_file_name_is_refused(name: str, ready: tuple[Store, Actor]) -> None:
    store, ana = ready
    with pytest.raises(Invalid, match="the file name"):
        submit(store, ana, "mine", "practice", answer(), file_name=name)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 100_000, "is nested too deeply"),
        ('[{"name": "a", "email": "b"}, [[]]]', "dialogue 1: has no utterances"),
        ('{"a": 1}', "expected a JSON list"),
        ('[{"name": "a", "email": "b"}, ' + "1" * 20_000 + "]", "element 2"),
        ('[{"name": "a", "email": "b"}, [[{"speaker": "Ross", "utterance": "line 0", "emotion": "joy"}', "truncated"),
    ],
    ids=["deep", "empty dialogue", "object", "long number", "truncated"],
)
def test_hostile_json_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    unlabelled, sent = emotionx_file(tmp_path / "given.json", ["joy"]), tmp_path / "sent.json"
    sent.write_text(text)
    found = refusals(get_task("emotionx-friends"), sent, unlabelled, file_name="mine.json", items=1)
    assert found[0].startswith("mine.json")
    assert reason in found[0]


def test_json_may_be_laid_out_with_many_lines(tmp_path: Path) -> None:
    labels = ["joy", "anger"] * 2000
    unlabelled = emotionx_file(tmp_path / "given.json", labels)
    sent = emotionx_file(tmp_path / "sent.json", labels, submitted=True)
    sent.write_text(json.dumps(json.loads(sent.read_text()), indent=4))
    assert sent.read_text().count("\n") < line_limit(len(labels))
    assert refusals(get_task("emotionx-friends"), sent, unlabelled, file_name="mine.json", items=len(labels)) == []


@pytest.mark.parametrize("task", ["emocontext", "iest", "emotionx-friends"])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.one_of(st.binary(max_size=400), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
def test_no_bytes_crash_the_readers(task: str, data: bytes, tmp_path: Path) -> None:
    unlabelled = {
        "emocontext": lambda: (tmp_path / "given").write_text(rows_of(None)),
        "iest": lambda: iest_file(tmp_path / "given", [("unknown", "now"), ("unknown", "then")]),
        "emotionx-friends": lambda: emotionx_file(tmp_path / "given", ["joy"]),
    }
    unlabelled[task]()
    sent = tmp_path / "sent"
    sent.write_bytes(data)
    found = refusals(get_task(task), sent, tmp_path / "given", file_name="mine", items=8)
    assert found
    assert all(line.startswith("mine") and line.isprintable() for line in found)


def test_operators_definition_cannot_read_other_files(tmp_path: Path) -> None:
    """What a definition names is copied, so a challenge never reads its source again."""
    with opened_store("sqlite", tmp_path / "live", Clock()) as store:
        slug = made_challenge(store, tmp_path)
        for file in (tmp_path / "source").iterdir():
            file.unlink()
        ana, _ = team(store, slug)
        assert submit(store, ana, slug, "practice", answer(), file_name="a.txt").state == "queued"
        with pytest.raises(InputError, match="no such file"):
            create_challenge(store, OPERATOR, tmp_path / "source" / "mine.toml")
