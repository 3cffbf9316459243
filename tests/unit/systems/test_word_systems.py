"""What is special to the word-level systems: augmentation, filtering, and the prior that a weighted loss stands for."""

import numpy as np
import pytest

from emoscope.core.dialogue import Dialogue, Example, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.models.ensembles.voting import MultiStepVote
from emoscope.systems import SYSTEMS
from emoscope.systems.cyut import Cyut
from emoscope.systems.emocontext_baseline import EmoContextBaseline
from emoscope.systems.snu_ids import SnuIds
from emoscope.systems.thu_hcsi import ThuHcsi
from emoscope.tasks import get_task
from emoscope.tasks.datasets.augmentation import with_variants

TINY = {"epochs": 1, "batch_size": 8, "hidden_size": 4, "embedding_size": 6, "vectors": "random", "min_count": 1}


def friends(label: str, number: int, variants: dict[str, str] | None = None) -> Example:
    dialogue = Dialogue((Turn("hi", "Ross"), Turn(f"text {number}", "Joey"), Turn("bye", "Ross")), str(number))
    return Example(dialogue, 1, label, variants=variants or {})


def emocontext() -> list[Example]:
    labels = ["others"] * 12 + ["happy"] * 4 + ["sad"] * 4 + ["angry"] * 4
    return [Example(Dialogue.of(["hi", "yes", f"{label} {n}"]), 2, label) for n, label in enumerate(labels)]


def test_variants_replace_the_turn_and_nothing_else() -> None:
    example = friends("joy", 1, {"fr": "other words", "de": "more words", "it": "  TEXT 1 ", "es": "More  words"})
    untouched = friends("neutral", 2, {"de": "not used"})
    made = with_variants([example, untouched], {"joy"})
    assert [one.text for one in made] == ["text 1", "more words", "other words", "text 2"]
    assert made[1].dialogue.turns == (Turn("hi", "Ross"), Turn("more words", "Joey"), Turn("bye", "Ross"))
    assert (made[1].label, made[1].turn, made[1].dialogue.id, made[1].variants) == ("joy", 1, "1", {})
    assert made[0] is example
    assert made[3] is untouched


def test_cyut_keeps_every_emotion_and_some_of_the_neutral() -> None:
    task = get_task("emotionx-friends")
    examples = [friends("neutral", n, {"de": "x"}) for n in range(400)]
    examples += [friends("anger", n, {"de": "cross"}) for n in range(400, 410)] + [friends("fear", 999)]
    chosen = Cyut(task, settings={"neutral_share": 0.25}).select(examples)
    labels = [example.label for example in chosen]
    assert labels.count("anger") == 20
    assert labels.count("fear") == 0
    assert 70 <= labels.count("neutral") <= 130
    assert Cyut(task, settings={"neutral_share": 0.25}).select(examples) == chosen
    assert len(Cyut(task, settings={"neutral_share": 1.0}).select(examples)) == 420
    with pytest.raises(EmoscopeError, match="neutral_share"):
        Cyut(task, settings={"neutral_share": 0}).select(examples)


@pytest.mark.parametrize(
    ("weighting", "expected"),
    [
        ("none", [1 / 2, 1 / 6, 1 / 6, 1 / 6]),
        ("balanced", [1 / 4, 1 / 4, 1 / 4, 1 / 4]),
        # Roots of 3, 1, 1 and 1, scaled to sum to 1.
        ("root", [3**0.5 / (3**0.5 + 3), *[1 / (3**0.5 + 3)] * 3]),
    ],
)
def test_snu_ids_knows_the_prior_of_its_loss(weighting: str, expected: list[float]) -> None:
    system = SnuIds(get_task("emocontext"), settings={**TINY, "seeds": 1, "weighting": weighting})
    system.fit(emocontext())
    assert system.prior == pytest.approx(np.array(expected))


def test_snu_ids_names_a_wrong_weighting() -> None:
    with pytest.raises(EmoscopeError, match="class_weight: expected 'none', 'balanced' or 'root', found 'much'"):
        SnuIds(get_task("emocontext"), settings={**TINY, "weighting": "much"}).fit(emocontext())


def test_thu_hcsi_asks_three_questions() -> None:
    system = ThuHcsi(get_task("emocontext"), settings={**TINY, "seeds": 2, "num_filters": 3})
    answers = system.fit(emocontext()).predict_proba(emocontext())
    assert answers.sum(1) == pytest.approx(1)
    assert isinstance(system.block, MultiStepVote)
    assert {name: len(networks) for name, networks in system.block.sets.items()} == {
        "every": 2,
        "others": 2,
        "gates": 2,
    }


def test_baseline_needs_its_vectors_unless_configured() -> None:
    task = get_task("emocontext")
    with pytest.raises(EmoscopeError, match="this needs embeddings/glove"):
        EmoContextBaseline(task, settings={**TINY, "vectors": "glove"}).fit(emocontext())
    answers = EmoContextBaseline(task, settings=TINY).fit(emocontext()).predict_proba(emocontext())
    assert answers.shape == (24, 4)


@pytest.mark.parametrize("name", ["emocontext-baseline", "snu-ids", "thu-hcsi"])
def test_systems_of_one_task_refuse_another(name: str) -> None:
    with pytest.raises(EmoscopeError, match="cannot learn iest"):
        SYSTEMS[name](get_task("iest"))
