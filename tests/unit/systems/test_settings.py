"""Settings of systems: documented, checked, and known by their former names."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from emoscope.core.errors import EmoscopeError
from emoscope.models.block import Block
from emoscope.models.former_names import FORMER_NAMES
from emoscope.models.torch.training import Training
from emoscope.systems import SYSTEMS
from emoscope.systems.emocontext_baseline import EmoContextBaseline
from emoscope.systems.ku import KuSettings
from emoscope.systems.settings import SystemSettings
from emoscope.tasks import get_task


@pytest.mark.parametrize("name", list(SYSTEMS))
def test_every_setting_is_documented_and_has_its_name_of_today(name: str) -> None:
    for setting in getattr(SYSTEMS[name], "settings_class", SystemSettings).documented():
        assert re.fullmatch(r"[A-Z].*\.", setting.meaning), setting
        assert setting.name not in FORMER_NAMES


def test_a_changed_default_keeps_its_meaning() -> None:
    documented = {setting.name: setting for setting in KuSettings.documented()}
    assert documented["context"].default == 4
    assert documented["context"].meaning == "Number of turns read, the labelled one included."


def test_former_names_lead_to_names_of_today() -> None:
    assert not set(FORMER_NAMES) & set(FORMER_NAMES.values())
    named = set().union(*(getattr(SYSTEMS[name], "settings_class", SystemSettings).model_fields for name in SYSTEMS))
    systems_only = {name for name in FORMER_NAMES.values() if name.startswith(("network_", "boosting_", "source_"))}
    assert systems_only <= named


def test_settings_are_taken_under_their_former_names() -> None:
    system = EmoContextBaseline(get_task("emocontext"), settings={"rate": 0.5, "hidden": 8, "batch": 16})
    assert (system.settings.learning_rate, system.settings.hidden_size, system.settings.batch_size) == (0.5, 8, 16)


def plans_of(part: Any) -> Iterator[Training]:
    """The training plans in a block and its parts."""
    if isinstance(part, Training):
        yield part
    elif isinstance(part, Mapping):
        for name, inner in part.items():
            if name != "source_training" or part["sources"]:
                yield from plans_of(inner)
    elif isinstance(part, Block):
        yield from plans_of(vars(part))
    elif isinstance(part, list | tuple):
        yield from plans_of(dict(enumerate(part)))


@pytest.mark.parametrize(
    "name",
    [name for name in SYSTEMS if "precision" in getattr(SYSTEMS[name], "settings_class", SystemSettings).model_fields],
)
def test_all_networks_of_a_system_are_trained_in_the_chosen_precision(name: str) -> None:
    task = get_task(SYSTEMS[name].metadata.tasks[0] if SYSTEMS[name].metadata.tasks else "emocontext")
    block = SYSTEMS[name](task, settings={"precision": "bfloat16"}).build()
    plans = list(plans_of(block))
    assert plans
    assert {plan.precision for plan in plans if plan.epochs} == {"bfloat16"}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"learning_rat": 1}, "toy has no setting 'learning_rat'; did you mean 'learning_rate'?"),
        ({"zzz": 1}, "toy has no setting 'zzz'; it has: shift, "),
        ({"epochs": "many"}, "epochs: expected a valid integer, unable to parse string as an integer, found 'many'"),
        ({"epochs": 1.5}, "epochs: expected a valid integer, got a number with a fractional part, found 1.5"),
        ({"shift": "left"}, "shift: expected 'none', 'natural' or 'estimate', found 'left'"),
        ({"class_weight": "heavy"}, "class_weight: expected 'none', 'balanced' or 'root', found 'heavy'"),
    ],
)
def test_mistakes_get_one_clear_line(values: dict[str, Any], message: str) -> None:
    with pytest.raises(EmoscopeError, match=re.escape(message)):
        KuSettings.of(values, "toy")
