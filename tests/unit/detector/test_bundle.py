"""What a model's folder must say, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.detector.bundle import ASSETS, FILE, FORMAT, Bundle, Head, folder_hash, resolve

MIX = {"good": 0.5, "bad": 0.5}


def head(**changes: Any) -> Head:
    return Head(**{"name": "mood", "labels": ("good", "bad"), "trained": MIX, **changes})


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"name": 3}, "names as text"),
        ({"labels": ("good", 3)}, "names as text"),
        ({"labels": (), "trained": {}}, "labels of mood, and the mix"),
        ({"trained": {"good": 1.0}}, "labels of mood, and the mix"),
        ({"trained": {**MIX, "ugly": 0.1}}, "labels of mood, and the mix"),
        ({"temperature": 0}, "a temperature above 0"),
        ({"temperature": -1.0}, "a temperature above 0"),
        ({"temperature": "hot"}, "a temperature above 0"),
        ({"trained": {"good": "many", "bad": 0.5}}, "a number for each label of mood"),
        ({"prior": [0.5, 0.5]}, "a number for each label of mood"),
        ({"decision": {"good": None}}, "a number for each label of mood"),
        ({"prior": {"ugly": 1.0}}, "only labels of mood"),
        ({"decision": {"ugly": 2.0}}, "only labels of mood"),
    ],
)
def test_a_head_that_could_not_answer_is_refused(changes: dict[str, Any], wanted: str) -> None:
    with pytest.raises(ValueError, match=f"expected {wanted}"):
        head(**changes)


def test_written_settings_can_be_read_and_unset_ones_are_omitted(tmp_path: Path) -> None:
    full = head(prior={"good": 1, "bad": 9}, prior_source="traffic", estimate=True, temperature=2, decision={"bad": 3})
    for bundle in (
        Bundle(name="größe", task="iest", heads=(head(), full)),
        Bundle(name="mine", task="iest", heads=(head(),)),
    ):
        bundle.save(tmp_path)
        assert Bundle.load(tmp_path) == bundle
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert text.endswith("}\n") and '\n  "name": "mine"' in text
    assert json.loads(text) == {
        "name": "mine",
        "task": "iest",
        "heads": [
            {"name": "mood", "labels": ["good", "bad"], "trained": MIX, "estimate": False, "temperature": 1.0},
        ],
        "format": FORMAT,
    }
    Bundle(name="größe", task="iest", heads=(head(),)).save(tmp_path)
    assert "größe" in (tmp_path / FILE).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"format": "emoscope-bundle-9"}, "has format 'emoscope-bundle-9'; this version reads 'emoscope-bundle-2'"),
        ({"name": None}, r"is not a model description \(expected name and task as text\)"),
        ({"task": 5}, r"is not a model description \(expected name and task as text\)"),
        ({"heads": []}, r"is not a model description \(expected at least one head\)"),
        ({"heads": [{"name": "mood"}]}, r"is not a model description \('labels'\)"),
        ({"speed": 3}, "is not a model description .*speed"),
    ],
)
def test_a_folder_of_another_kind_is_refused(changes: dict[str, Any], wanted: str, tmp_path: Path) -> None:
    Bundle(name="mine", task="iest", heads=(head(),)).save(tmp_path)
    content = json.loads((tmp_path / FILE).read_text(encoding="utf-8"))
    (tmp_path / FILE).write_text(json.dumps({**content, **changes}), encoding="utf-8")
    with pytest.raises(InputError, match=wanted) as refused:
        Bundle.load(tmp_path)
    assert str(tmp_path / FILE) in str(refused.value)


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_broken_file_is_a_one_line_error(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is not a model description"):
        Bundle.load(tmp_path)


def test_empty_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(EmoscopeError, match=rf"holds no model \({FILE} is missing\)"):
        Bundle.load(tmp_path)


def test_heads_are_found_by_name_by_their_former_name_and_the_first_without() -> None:
    general, other = head(name="general"), head(name="other")
    bundle = Bundle(name="mine", task="iest", heads=(other, general))
    assert bundle.head() is other
    assert bundle.head("general") is general
    assert bundle.head("ekman") is general
    with pytest.raises(EmoscopeError, match=r"^model mine has no labels named 'Genral'; did you mean 'general'"):
        bundle.head("Genral")
    with pytest.raises(EmoscopeError, match="no labels named 'xyz'; it has: other, general"):
        bundle.head("xyz")


def test_a_head_is_chosen_by_name_not_by_labels() -> None:
    bundle = Bundle(name="mine", task="iest", heads=(head(), head(name="tone")))
    labels: Any = ["good", "bad"]
    with pytest.raises(EmoscopeError, match=r"^labels is the name of a set of labels \(mood, tone\), not a list$"):
        bundle.head(labels)


def test_a_model_is_a_preset_or_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve("open") == ASSETS / "open"
    assert resolve(tmp_path) == tmp_path == resolve(str(tmp_path))
    with pytest.raises(EmoscopeError, match=r"no model named 'big': expected default, open, nano, or a folder with"):
        resolve("big")
    with pytest.raises(EmoscopeError, match=rf"or a folder with {FILE}; did you mean 'open'\?$"):
        resolve("OPNE")
    (tmp_path / "nano").mkdir()
    monkeypatch.setattr("emoscope.detector.bundle.ASSETS", tmp_path)
    assert resolve("default") == tmp_path / "nano"  # an installation without the larger models


def test_hash_depends_on_names_and_contents(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    first = folder_hash(tmp_path)
    assert first == folder_hash(tmp_path) and len(first) == 64
    (tmp_path / "b").write_bytes(b"3")
    assert folder_hash(tmp_path) != first
    (tmp_path / "b").write_bytes(b"2")
    assert folder_hash(tmp_path) == first
    (tmp_path / "b").rename(tmp_path / "c")
    assert folder_hash(tmp_path) != first
