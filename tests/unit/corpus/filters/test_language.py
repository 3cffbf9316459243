"""Which language a dialogue is in, and which are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.language_words import count_words
from emoscope.corpus.filters.identify import LanguageIdentifier
from emoscope.corpus.filters.language import LanguageFilter


@pytest.fixture(scope="module")
def identifier() -> LanguageIdentifier:
    return LanguageIdentifier()


@pytest.fixture(scope="module")
def english() -> LanguageFilter:
    return LanguageFilter(["en"])


def reasons(chosen: LanguageFilter, *dialogues: list[str]) -> list[str | None]:
    return [review.reason for review in chosen.review([Dialogue.of(turns) for turns in dialogues])]


@pytest.mark.parametrize(
    "turns", [["lol ok"], ["ok"], ["😂😂"], ["hahaha", "k"], ["12345"], ["no"], ["?!"], [""], ["@bob https://t.co/x"]]
)
def test_what_is_too_short_to_tell_stays(english: LanguageFilter, turns: list[str]) -> None:
    assert reasons(english, turns) == [None]


@pytest.mark.parametrize(
    ("expected", "turns"),
    [
        ("en", ["do u wanna hang out 2nite"]),
        ("en", ["we ate tacos and naan", "amigo, you need to relax"]),
        ("es", ["no sé qué hacer con mi vida"]),
        ("hi", ["tum kaha ho abhi"]),
        ("hi", ["मुझे बहुत भूख लगी है"]),
        ("en+hi", ["how are you?", "main theek hoon, tum batao", "good to hear that"]),
        ("en+hi", ["this is so boring, kya kare yaar"]),
        ("en+hi", ["i told you already", "मुझे नहीं पता"]),
        ("en+es", ["i told my mom que no quiero ir a la escuela"]),
        ("ru", ["привет как дела"]),
        ("fr", ["je suis très fatigué ce soir"]),
        ("it", ["lascia stare"]),
        ("it", ["chiudi la porta"]),
        ("it", ["figurati, nessun problema"]),
        ("tr", ["nasılsın bugün"]),
        ("vi", ["em buồn quá"]),
        ("en", ["naïve of me"]),
    ],
)
def test_languages_and_mixtures(identifier: LanguageIdentifier, expected: str, turns: list[str]) -> None:
    assert identifier.identify(turns) == expected


def test_a_borrowed_word_said_twice_is_no_mixture(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["sorry yaar", "it's all good yaar, do not worry"]) == "en"


def test_masks_names_and_links_say_nothing(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["<NAME> <EMAIL> @pourquoi_tu http://je.suis.fr/la"]) == "und"


def test_a_face_in_another_script_is_no_language(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["sorry i dropped this ノ( ゜-゜ノ)"]) == "en"


def test_mixtures_are_kept_only_if_named() -> None:
    hinglish = ["yaar this is so boring", "kya kare ab"]
    assert reasons(LanguageFilter(["en", "hi"]), hinglish) == ["code-mixed"]
    assert reasons(LanguageFilter(["HI+en"]), hinglish, ["how are you doing"]) == [None, "other language"]


def test_the_details_name_the_language(english: LanguageFilter) -> None:
    (review,) = english.review([Dialogue.of(["estoy muy triste hoy"])])
    assert (review.reason, dict(review.details)) == ("other language", {"language": "es"})


@pytest.mark.parametrize("keep", [[], ["english"], ["xx"], ["en+"]])
def test_unknown_languages_are_refused(keep: list[str]) -> None:
    with pytest.raises(EmoscopeError, match="language"):
        LanguageFilter(keep)


def test_held_letters_and_laughter() -> None:
    counts = count_words("sooooo goooood hahahahaha jajaja looool")
    assert (counts.english, counts.unknown) == (2, 0)
    assert (counts.spanish, counts.anywhere) == (1, 2)


@given(st.lists(st.text(max_size=60), min_size=1, max_size=3))
def test_any_text_has_an_answer(turns: list[str]) -> None:
    found = _SHARED.identify(turns)
    assert found == "und" or all(len(code) == 2 for code in found.split("+"))
    assert found == _SHARED.identify(turns)


_SHARED = LanguageIdentifier()
