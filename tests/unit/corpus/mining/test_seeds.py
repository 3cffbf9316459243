"""Seeds from a judged random sample, batch by batch, and random dialogues without the emotional ones."""

import csv
import json
from pathlib import Path

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.mining.mine import read_seeds
from emoscope.corpus.mining.seeds import gather_seeds
from kits.jsonl import write_jsonl
from kits.task_files import run

LABELS = ("happy", "sad", "others", "others", "others", "others", "others", "others", "others", "others")


@pytest.fixture
def pool(tmp_path: Path) -> str:
    path = tmp_path / "pool.jsonl"
    write_jsonl(path, [{"id": f"d{n}", "turns": ["hi", "yes", f"{LABELS[n % 10]} {n}"]} for n in range(400)])
    return str(path)


def judge(folder: Path, batches: int, *, judges: int = 3, leave: int = 0) -> Path:
    """The judgements of people who read what the turn says."""
    path = folder.parent / "judgements.csv"
    rows = ["task,worker,label"]
    for number in range(1, batches + 1):
        with (folder / f"batch-{number:03}.csv").open() as handle:
            items = list(csv.DictReader(handle))
        for item in items[: len(items) - leave if number == batches else None]:
            rows += [f"{item['id']},w{worker},{item['turn3'].split()[0]}" for worker in range(judges)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_batches_are_drawn_until_each_class_has_enough(tmp_path: Path, pool: str) -> None:
    folder = tmp_path / "seeds"
    state = gather_seeds(pool, folder, labels=("happy", "sad"), per_class=12, batch=40)
    assert (state.next_batch, state.waiting, state.done) == ("batch-001.csv", 40, False)
    batches = 1
    while not (state := gather_seeds(pool, folder, [judge(folder, batches)])).done:
        batches += 1
        assert state.next_batch == f"batch-{batches:03}.csv"
        assert batches < 9
    assert batches > 1
    seeds = read_seeds(folder / "seeds.csv")
    assert {len(seeds["happy"]), len(seeds["sad"]), len(seeds["others"])} == {12}
    assert all(dialogue.texts[-1].startswith("sad") for dialogue in seeds["sad"])
    drawn = [item for path in sorted(folder.glob("batch-*.csv")) for item in csv.DictReader(path.open())]
    assert len({item["id"] for item in drawn}) == len(drawn)  # none is judged twice


def test_no_batch_is_drawn_while_one_is_being_judged(tmp_path: Path, pool: str) -> None:
    folder = tmp_path / "seeds"
    gather_seeds(pool, folder, per_class=50, batch=40)
    state = gather_seeds(pool, folder, [judge(folder, 1, leave=5)])
    assert (state.waiting, state.next_batch, state.judged) == (5, None, 35)
    again = gather_seeds(pool, folder, [judge(folder, 1, leave=5)])
    assert again == state  # nothing was drawn in between


def test_dialogue_without_a_majority_is_not_a_seed(tmp_path: Path, pool: str) -> None:
    folder = tmp_path / "seeds"
    gather_seeds(pool, folder, per_class=2, batch=40)
    path = judge(folder, 1, judges=1)
    task = path.read_text().splitlines()[1].split(",")[0]
    path.write_text(path.read_text() + f"{task},x,angry\n")
    assert gather_seeds(pool, folder, [path]).undecided == 1


def test_continuing_with_other_settings_is_refused(tmp_path: Path, pool: str) -> None:
    folder = tmp_path / "seeds"
    gather_seeds(pool, folder, per_class=5, batch=40)
    with pytest.raises(EmoscopeError, match="was begun with per-class 5, not 6"):
        gather_seeds(pool, folder, per_class=6)
    with pytest.raises(EmoscopeError, match=r"was begun with labels happy, sad, angry, not happy, sad$"):
        gather_seeds(pool, folder, labels=("happy", "sad"))
    with pytest.raises(EmoscopeError, match="was begun with the pool"):
        gather_seeds(str(tmp_path / "other.jsonl"), folder)
    (tmp_path / "j.csv").write_text("task,worker,label\nnobody,w,sad\n")
    with pytest.raises(EmoscopeError, match="none of the judgements"):
        gather_seeds(pool, folder, [tmp_path / "j.csv"])
    (tmp_path / "j.csv").write_text(
        f"task,worker,label\n{next(csv.DictReader((folder / 'batch-001.csv').open()))['id']},w,glad\n"
    )
    with pytest.raises(EmoscopeError, match="'glad' is none of"):
        gather_seeds(pool, folder, [tmp_path / "j.csv"])


def test_judgements_for_a_new_folder_count_at_once(tmp_path: Path, pool: str) -> None:
    settings = {"labels": ("happy", "sad"), "per_class": 3, "batch": 80}
    gather_seeds(pool, tmp_path / "lost", **settings)
    judged = judge(tmp_path / "lost", 1)
    assert gather_seeds(pool, tmp_path / "seeds", [judged], **settings).done  # the same seed draws the same batch
    judged.write_text("".join(judged.read_text().splitlines(keepends=True)[:31]))
    partly = gather_seeds(pool, tmp_path / "partly", [judged], **settings)
    assert (partly.judged, partly.waiting, partly.next_batch) == (10, 70, "batch-001.csv")


def test_a_run_without_judgements_keeps_the_seeds(tmp_path: Path, pool: str) -> None:
    gather_seeds(pool, tmp_path / "seeds", labels=("happy", "sad"), per_class=3, batch=80)
    gather_seeds(pool, tmp_path / "seeds", [judge(tmp_path / "seeds", 1)])
    before = (tmp_path / "seeds" / "seeds.csv").read_text()
    assert len(before.splitlines()) == 10
    assert gather_seeds(pool, tmp_path / "seeds").waiting == 80
    assert (tmp_path / "seeds" / "seeds.csv").read_text() == before


@pytest.mark.parametrize("labels", [(), ("happy", "happy"), ("others",)])
def test_labels_are_checked(tmp_path: Path, pool: str, labels: tuple[str, ...]) -> None:
    with pytest.raises(EmoscopeError, match=r"expected one or more, each once, besides the neutral 'others'"):
        gather_seeds(pool, tmp_path / "seeds", labels=labels)
    assert not (tmp_path / "seeds").exists()


def test_an_id_of_two_dialogues_is_refused(tmp_path: Path, pool: str) -> None:
    rows = [json.loads(line) for line in Path(pool).read_text().splitlines()]
    write_jsonl(tmp_path / "twice.jsonl", [*rows[:40], {**rows[41], "id": "d7"}])
    with pytest.raises(EmoscopeError, match=r"twice.jsonl: id 'd7' is drawn twice"):
        gather_seeds(str(tmp_path / "twice.jsonl"), tmp_path / "twice", batch=50)
    gather_seeds(pool, tmp_path / "seeds", per_class=50, batch=40)
    judged = judge(tmp_path / "seeds", 1)
    write_jsonl(Path(pool), rows[::-1])
    with pytest.raises(EmoscopeError, match="or the pool has changed since"):
        gather_seeds(pool, tmp_path / "seeds", [judged])


def test_pool_with_too_few_items_is_reported(tmp_path: Path, pool: str) -> None:
    folder = tmp_path / "seeds"
    gather_seeds(pool, folder, per_class=200, batch=400)
    with pytest.raises(EmoscopeError, match=r"all 400 .* drawn, with only \d+ of 200 happy, .*; .*seeds.csv has what"):
        gather_seeds(pool, folder, [judge(folder, 1)])
    assert (folder / "seeds.csv").is_file()


def test_the_commands_from_pool_to_seeds(tmp_path: Path, pool: str) -> None:
    folder = tmp_path / "seeds"
    shown = run("corpus", "seeds", pool, "-o", folder, "--labels", "happy,sad", "--per-class", "3", "--batch", "80")
    assert f"annotate {folder / 'batch-001.csv'} --labels happy,sad,others -o STUDY" in shown.output.replace("\n", "")
    shown = run("corpus", "seeds", pool, "-o", folder, "-j", judge(folder, 1))
    assert "emoscope corpus mine" in shown.output, shown.output
    found = json.loads(run("corpus", "seeds", pool, "-o", folder, "-j", judge(folder, 1), "--json").stdout)
    assert (found["done"], found["seeds"]["happy"]) == (True, 3)


def test_the_commands_it_shows_can_be_typed(tmp_path: Path, pool: str) -> None:
    done = run("corpus", "seeds", pool, "-o", tmp_path / "my seeds", "--labels", "very happy,sad")
    assert "--labels 'very happy,sad,others'" in " ".join(done.stdout.split())
    assert "my seeds/batch-001.csv' --labels" in " ".join(done.stdout.split())


def test_random_dialogues_that_judges_found_emotional_are_discarded(tmp_path: Path) -> None:
    write_jsonl(
        tmp_path / "candidates.jsonl",
        [{"id": "1", "turns": ["a"], "mined_as": "sad"}]
        + [{"id": name, "turns": ["b"], "mined_as": "others"} for name in "23"],
    )
    (tmp_path / "j.csv").write_text("task,worker,label\n1,w,sad\n2,w,sad\n3,w,others\n")
    options = ["corpus", "aggregate", tmp_path / "j.csv", "-o", tmp_path / "l.csv"]
    shown = run(*options, "--discard-others", tmp_path / "candidates.jsonl")
    assert "1 random dialogue was judged emotional and left out" in shown.output, shown.output
    assert [row["task"] for row in csv.DictReader((tmp_path / "l.csv").open())] == ["1", "3"]
    run(*options)
    assert [row["task"] for row in csv.DictReader((tmp_path / "l.csv").open())] == ["1", "2", "3"]
    write_jsonl(tmp_path / "plain.jsonl", [{"id": "1", "turns": ["a"]}])
    shown = run(*options, "--discard-others", tmp_path / "plain.jsonl")
    assert "mined_as" in str(shown.exception)
    shown = run(*options, "--discard-others", tmp_path / "candidates.jsonl", "--neutral", "Others")
    assert str(shown.exception) == "--neutral Others: no task got this label; did you mean 'others'?"
    shown = run(*options, "--discard-others", tmp_path / "candidates.jsonl", "--neutral", "none")
    assert "no task got the label 'none'; if no emotion is called otherwise, give --neutral" in shown.output
    assert str(run(*options, "--neutral", "none").exception) == "--neutral goes with --discard-others"
