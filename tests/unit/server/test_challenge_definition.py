"""The definition file of a challenge: what is accepted, and how mistakes are reported."""

import json
import re
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.challenges import create_challenge, open_phase
from emoscope.server.challenge.services.definition import (
    Definition,
    FileDefinition,
    PhaseDefinition,
    read_definition,
    ready_challenge,
    ready_challenges,
)
from emoscope.server.challenge.services.handouts import challenge_file, list_files
from emoscope.server.errors import Conflict, Unauthenticated
from kits.challenge_kit import GOLD, Clock, opened_store, phase, rows_of, team, write_challenge
from kits.task_files import emotionx_file, iest_file, labels_file

PHASE = '[[phases]]\nname = "one"\ntitle = "One"\nunlabelled = "given.txt"\ngold = "gold.txt"\nper_day = 3\n'


@pytest.mark.parametrize("name", ready_challenges())
def test_the_ready_challenges_are_valid(name: str, tmp_path: Path) -> None:
    file = tmp_path / "ready.toml"
    file.write_text(ready_challenge(name))
    found = read_definition(file)
    assert found.slug == found.task == name
    assert found.phases[-1].published


TRAINING = {
    "emocontext": ["train.txt"],
    "emotionx-friends": ["friends.json", "friends.augmented.json"],
    "emotionx-push": ["emotionpush.json", "emotionpush.augmented.json"],
    "iest": ["train-v3.csv"],
}


@pytest.mark.parametrize("name", ready_challenges())
def test_registered_teams_get_the_training_data_of_a_ready_challenge(name: str, tmp_path: Path) -> None:
    toml = tmp_path / "ready.toml"
    toml.write_text(ready_challenge(name))
    definition = read_definition(toml)
    for one in definition.phases:
        _write_data(definition.task, tmp_path / one.unlabelled, labelled=False)
        _write_data(definition.task, tmp_path / one.gold)
    for file in definition.files:
        _write_data(definition.task, tmp_path / file.file, ending="!")
    with opened_store("sqlite", tmp_path / "live", Clock()) as store:
        slug = create_challenge(store, OPERATOR, toml).slug
        open_phase(store, OPERATOR, slug, definition.phases[0].name)
        ana, _ = team(store, slug)
        assert [file.name for file in list_files(store, PUBLIC, slug)] == TRAINING[name]
        for file in TRAINING[name]:
            assert challenge_file(store, ana, slug, file)[0].read_bytes() == (tmp_path / file).read_bytes()
            with pytest.raises(Unauthenticated):
                challenge_file(store, PUBLIC, slug, file)


def _write_data(task: str, path: Path, *, labelled: bool = True, ending: str = "") -> None:
    """A small file of a task; one with another ending has other items."""
    if task == "iest":
        labels = ["joy", "joy", "fear", "fear"]
        iest_file(path, [(label if labelled else "unknown", f"that{ending}") for label in labels])
    elif task == "emocontext":
        path.write_text(rows_of(GOLD if labelled else None).replace("tell me", f"tell me{ending}"))
    else:
        emotion = {"emotion": "joy"} if labelled else {}
        path.write_text(
            json.dumps([[{"speaker": "Ross", "utterance": f"line {n}{ending}", **emotion} for n in range(4)]])
        )


def test_the_emocontext_challenge_is_the_papers() -> None:
    import tomllib

    practice, evaluation = tomllib.loads(ready_challenge("emocontext"))["phases"]
    assert (practice["per_day"], practice["board"], practice["gold"]) == (20, "open", "dev.txt")
    assert (evaluation["per_day"], evaluation["board"]) == (10, "hidden")
    with pytest.raises(EmoscopeError, match="no challenge template 'emo'; available: emocontext"):
        ready_challenge("emo")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("slug = ", "is not valid TOML"),
        ('title = "A"\ntask = "iest"\n' + PHASE, ", slug: Field required"),
        ('slug = "A B"\ntitle = "A"\ntask = "iest"\n' + PHASE, ", slug: String should match pattern"),
        ('slug = "a"\ntitle = "A"\ntask = "emocontex"\n' + PHASE, ", task: no task named 'emocontex'; did you mean"),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\n', ", phases: Field required"),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\ntypo = 1\n' + PHASE, ", typo: Extra inputs are not permitted"),
        (
            'slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + 'time_zone = "Mars"\n',
            ", phases.one.time_zone: unknown",
        ),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + "total = 0\n", ", phases.one.total: Input should be"),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + 'board = "secret"\n', ", phases.one.board: Input should"),
        (
            'slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + "opens = 2030-01-02\ncloses = 2030-01-01\n",
            ", phases.one: 'closes' must come after 'opens'",
        ),
        (
            'slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + "opens = 2030-01-02\nlabels = 2030-01-01T12:00:00\n",
            ", phases.one: 'labels' must come after 'opens'",
        ),
        (
            'slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + 'labels = "soon"\n',
            ", phases.one.labels: expected 'secret', 'closed', 'next' or a time",
        ),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\n' + PHASE + PHASE, "two phases have the same name"),
        ('slug = "a"\ntitle = "A\\u0000"\ntask = "iest"\n' + PHASE, ", title: must not contain control characters"),
        (
            'slug = "a"\ntitle = "A"\ntask = "iest"\nmetric = "luck"\n' + PHASE,
            "unknown metric 'luck', expected one of: m",
        ),
        (
            'slug = "a"\ntitle = "A"\ntask = "iest"\nmetric = "accuracy"\n' + PHASE + "published = true\n",
            "the paper does not report accuracy",
        ),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\nphases = 3\n', ", phases: Input should be a valid tuple"),
        ('slug = "a"\ntitle = "A"\ntask = "iest"\nphases = [3]\n', r", phases.\[1\]: Input should be a valid dict"),
    ],
)
def test_a_mistake_names_the_file_and_the_field(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=f"mine.toml.*{told}"):
        read_definition(file)


def test_the_documented_example_is_valid() -> None:
    guide = Path(__file__).parents[3] / "docs" / "guide" / "challenge.md"
    if not guide.is_file():
        pytest.skip("the documentation is not beside the tests")
    example = guide.read_text().split("```toml\n")[1].split("```")[0]
    for text in (example, example.replace("# metric", "metric").replace("published = true", "published = false")):
        found = Definition.model_validate(tomllib.loads(text))
        assert found.phases[0].opens is not None
    named = set(re.findall(r"^#? ?(\w+) = ", example, re.MULTILINE))
    parts = (Definition, PhaseDefinition, FileDefinition)
    assert named == {field for part in parts for field in part.model_fields} - {"phases", "files"}


def test_times_are_in_the_phases_zone(tmp_path: Path) -> None:
    settings = {"opens": datetime(2030, 7, 1), "labels": datetime(2030, 7, 2), "time_zone": "Europe/Berlin"}
    file = write_challenge(tmp_path, phases=phase("one", **settings))
    found = read_definition(file).phases[0]
    moment = found.moment(found.opens)
    assert moment is not None
    assert moment.astimezone(UTC) == datetime(2030, 6, 30, 22, tzinfo=UTC)  # summer time
    assert found.labels_at is not None
    assert found.labels_at.astimezone(UTC) == datetime(2030, 7, 1, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("given.txt", rows_of(GOLD), "phases.practice: .*given.txt, item 1: has a label; participants would get it"),
        ("gold.txt", rows_of(None), "phases.practice: .*gold.txt: has no labels"),
        ("gold.txt", rows_of(GOLD, 5), "phases.practice: .*gold.txt: has 5 labels for the 8 items of given.txt"),
        (
            "gold.txt",
            rows_of(GOLD).replace("hello 3", "bye 3"),
            "gold.txt, item 4: is not the same item as in given.txt",
        ),
        ("gold.txt", None, "phases.practice.gold: .*gold.txt: no such file"),
        ("given.txt", "", "phases.practice: .*given.txt: is empty"),
    ],
)
def test_files_that_do_not_fit_are_refused(name: str, content: str | None, told: str, tmp_path: Path) -> None:
    file = write_challenge(tmp_path / "source")
    if content is None:
        (tmp_path / "source" / name).unlink()
    else:
        (tmp_path / "source" / name).write_text(content)
    with opened_store("sqlite", tmp_path, Clock()) as store, pytest.raises(InputError, match=f"mine.toml, .*{told}"):
        create_challenge(store, OPERATOR, file)


def test_a_slug_is_taken_once(tmp_path: Path) -> None:
    file = write_challenge(tmp_path / "source")
    with opened_store("sqlite", tmp_path, Clock()) as store:
        create_challenge(store, OPERATOR, file)
        with pytest.raises(Conflict, match="a challenge named 'mine' already exists"):
            create_challenge(store, OPERATOR, file)


def test_challenges_of_the_other_tasks_are_made_too(tmp_path: Path) -> None:
    rows = [("joy", "because it is over"), ("fear", "that it is not")]
    iest_file(tmp_path / "gold.csv", rows)
    iest_file(tmp_path / "given.csv", [("unknown", rest) for _, rest in rows])
    labels_file(tmp_path / "gold.labels", ["joy", "fear"])
    emotionx_file(tmp_path / "gold.json", ["joy", "surprise"])
    (tmp_path / "given.json").write_text(
        '[[{"speaker": "Ross", "utterance": "line 0"}, {"speaker": "Ross", "utterance": "line 1"}]]'
    )
    with opened_store("sqlite", tmp_path, Clock()) as store:
        for slug, task, given, gold in (
            ("a", "iest", "given.csv", "gold.csv"),
            ("b", "iest", "given.csv", "gold.labels"),
            ("c", "emotionx-friends", "given.json", "gold.json"),
        ):
            file = tmp_path / f"{slug}.toml"
            phases = phase("one", unlabelled=given, gold=gold)
            file.write_text(f'slug = "{slug}"\ntitle = "A"\ntask = "{task}"\n{phases}')
            assert create_challenge(store, OPERATOR, file).phases[0].items == 2
