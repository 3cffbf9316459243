"""What every registered system must do, on tiny data with tiny settings."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.systems import SYSTEMS, System
from emoscope.tasks import TASKS, get_task
from kits.tiny_systems import SMALL, examples_of, settings_of, tiny

LOAD_ALL = """
import json, sys
from pathlib import Path
import numpy as np
import emoscope
from emoscope.systems import SYSTEMS
from emoscope.tasks import get_task
sys.path.insert(0, sys.argv[1])
from kits.tiny_systems import examples_of
for folder in map(Path, sys.argv[2:]):
    task = get_task(SYSTEMS[folder.name].metadata.tasks[0])
    examples = examples_of(task.name)
    detector = emoscope.load(folder, for_metric=True)
    order = [detector.labels.index(label) for label in task.labels]
    np.save(folder.with_suffix(".npy"), detector.predict_examples(examples)[:, order])
    folder.with_suffix(".json").write_text(json.dumps(detector.label_examples(examples)))
"""


class Fitted(NamedTuple):
    system: System
    folder: Path
    probabilities: NDArray[np.float64]


@pytest.fixture(scope="module")
def fitted(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Fitted]:
    """Trains and saves a system, once for all tests."""
    parent = tmp_path_factory.mktemp("systems")

    @cache
    def fit(name: str) -> Fitted:
        examples = examples_of(SYSTEMS[name].metadata.tasks[0])
        system = tiny(name, encoder).fit(examples, FitContext(seed=0, device="cpu"))
        (parent / name).mkdir()
        system.model().save(parent / name)
        return Fitted(system, parent / name, system.predict_proba(examples))

    return fit


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
    assert ("linear" if name == "nano" else "train") in metadata.extras


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
def test_train_and_submit(name: str, fitted: Callable[[str], Fitted], tmp_path: Path) -> None:
    task_name = SYSTEMS[name].metadata.tasks[0]
    task, examples = get_task(task_name), examples_of(task_name)
    system, folder, probabilities = fitted(name)
    assert probabilities.shape == (len(examples), len(task.labels))
    assert np.isfinite(probabilities).all()
    assert np.allclose(probabilities.sum(1), 1, atol=1e-6)
    assert not [path for path in folder.rglob("*") if path.suffix in (".pkl", ".pickle", ".pt", ".bin", ".joblib")]

    if task_name != "emotionx-friends":  # a submission there needs every utterance of a dialogue
        task.write_submission(tmp_path / "out", examples, system.predict(examples))
        assert task.read_predictions(tmp_path / "out", examples) == system.predict(examples)

    wrong = next((other for other in TASKS if other not in SYSTEMS[name].metadata.tasks), None)
    if wrong is not None:
        with pytest.raises(EmoscopeError, match=f"{name} cannot learn {wrong}"):
            SYSTEMS[name](get_task(wrong))


@pytest.mark.slow
def test_saved_systems_answer_the_same_in_another_process(fitted: Callable[[str], Fitted]) -> None:
    every = [fitted(name) for name in SYSTEMS]
    command = [sys.executable, "-c", LOAD_ALL, str(Path(__file__).parents[2]), *(str(each.folder) for each in every)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    for system, folder, probabilities in every:
        again = np.load(folder.with_suffix(".npy"))
        assert np.allclose(again, probabilities, atol=1e-6), system.metadata.name
        labels = json.loads(folder.with_suffix(".json").read_text())
        assert labels == system.predict(examples_of(system.task.name)), system.metadata.name


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_the_seed_reproduces(name: str, encoder: Path, fitted: Callable[[str], Fitted]) -> None:
    examples = examples_of(SYSTEMS[name].metadata.tasks[0])
    again = tiny(name, encoder).fit(examples, FitContext(seed=0, device="cpu"))
    assert np.array_equal(again.predict_proba(examples), fitted(name).probabilities)


def test_unknown_settings_get_a_suggestion() -> None:
    with pytest.raises(EmoscopeError, match="emocontext-baseline has no setting 'epoch'; did you mean 'epochs'"):
        SYSTEMS["emocontext-baseline"](get_task("emocontext"), settings={"epoch": 3})
