"""What every registered system must do, on tiny data with tiny settings."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.systems import SYSTEMS
from emoscope.tasks import TASKS, get_task
from kits.tiny_systems import SMALL, examples_of, settings_of, tiny


def test_the_registered_names() -> None:
    assert list(SYSTEMS) == [
        "alexu",
        "amobee",
        "ana",
        "antenna",
        "caire-hkust",
        "cyut",
        "emocontext-baseline",
        "figure-eight",
        "hsu",
        "idea",
        "iest-baseline",
        "iiidyt",
        "ku",
        "large",
        "nano",
        "nelec",
        "ntua-slp",
        "podlab",
        "snu-ids",
        "symantoresearch",
        "thu-hcsi",
    ]


def test_every_small_setting_is_a_setting_of_some_system() -> None:
    assert set(SMALL) <= set().union(*map(settings_of, SYSTEMS))


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_metadata(name: str) -> None:
    metadata = SYSTEMS[name].metadata
    assert metadata.name == name
    assert metadata.summary
    assert metadata.team
    assert set(metadata.tasks) <= set(TASKS)
    assert set(metadata.published) <= set(metadata.tasks)
    assert metadata.team == "emoscope" or metadata.citation
    assert "train" in metadata.extras


def test_listing_needs_no_torch() -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['sklearn'] = sys.modules['transformers'] = None\n"
        "from emoscope.systems import SYSTEMS\n"
        "print(len([SYSTEMS[name].metadata.name for name in SYSTEMS]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(len(SYSTEMS)), done.stderr


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_train_save_load_elsewhere_and_submit(name: str, encoder: Path, tmp_path: Path) -> None:
    task_name = SYSTEMS[name].metadata.tasks[0]
    task = get_task(task_name)
    examples = examples_of(task_name)
    system = tiny(name, encoder).fit(examples, FitContext(seed=0, device="cpu"))
    answers = system.predict_proba(examples)
    assert answers.shape == (len(examples), len(task.labels))
    assert np.isfinite(answers).all()
    assert np.allclose(answers.sum(1), 1, atol=1e-6)

    system.save(tmp_path)
    assert not [path for path in tmp_path.rglob("*") if path.suffix in (".pkl", ".pickle", ".pt", ".bin", ".joblib")]
    code = (
        "import sys, json; sys.path[:0] = json.loads(sys.argv[3])\n"
        "import numpy as np\n"
        "from pathlib import Path\n"
        "from kits.tiny_systems import examples_of\n"
        "import emoscope\n"
        "detector = emoscope.load(sys.argv[1], for_metric=True)\n"
        "examples = examples_of(sys.argv[2])\n"
        "np.save(Path(sys.argv[1]) / 'again.npy', detector.predict_examples(examples))\n"
        "print(json.dumps([detector.labels, detector.label_examples(examples)]))\n"
    )
    paths = json.dumps([str(Path(__file__).parents[2])])
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), task_name, paths], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    labels, predicted = json.loads(done.stdout)
    again = np.load(tmp_path / "again.npy")[:, [labels.index(label) for label in task.labels]]
    assert np.allclose(again, answers, atol=1e-6)
    assert predicted == system.predict(examples)

    if task_name != "emotionx-friends":  # a submission there needs every utterance of a dialogue
        task.write_submission(tmp_path / "out", examples, system.predict(examples))
        assert task.read_predictions(tmp_path / "out", examples) == system.predict(examples)

    wrong = next((other for other in TASKS if other not in SYSTEMS[name].metadata.tasks), None)
    if wrong is not None:
        with pytest.raises(EmoscopeError, match=f"{name} was not made for {wrong}"):
            SYSTEMS[name](get_task(wrong))


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_the_seed_reproduces(name: str, encoder: Path) -> None:
    examples = examples_of(SYSTEMS[name].metadata.tasks[0])
    first, second = (
        tiny(name, encoder, seed=5).fit(examples, FitContext(seed=5, device="cpu")).predict_proba(examples)
        for _ in range(2)
    )
    assert np.array_equal(first, second)


def test_unknown_settings_get_a_suggestion() -> None:
    with pytest.raises(EmoscopeError, match="emocontext-baseline has no setting 'epoch'; did you mean 'epochs'"):
        SYSTEMS["emocontext-baseline"](get_task("emocontext"), settings={"epoch": 3})
