"""Which language a dialogue is in, and which are kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.language_words import count_words
from emoscope.corpus.filters.identify import LanguageIdentifier
from emoscope.corpus.filters.language import LanguageFilter, user_languages


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
def test_items_too_short_to_judge_are_kept(english: LanguageFilter, turns: list[str]) -> None:
    assert reasons(english, turns) == [None]


@pytest.mark.parametrize(
    ("expected", "turns"),
    [
        ("en", ["do u wanna hang out 2nite"]),
        ("en", ["my postcode is SW1A 1AA"]),
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
        ("it", ["non lo so"]),
        ("it", ["buonanotte"]),
        ("tr", ["günaydın"]),
        ("or", ["tora katha kana"]),
        ("en", ["fomo is the worsst"]),
        ("tr", ["nasılsın bugün"]),
        ("vi", ["em buồn quá"]),
        ("en", ["naïve of me"]),
    ],
)
def test_languages_and_mixtures(identifier: LanguageIdentifier, expected: str, turns: list[str]) -> None:
    assert identifier.identify(turns) == expected


def test_three_words_of_which_none_is_english_are_not(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["kemti nasu brati"]) not in ("en", "und")
    assert identifier.identify(["kemti nasu"]) == "und"


def test_repeated_loan_word_is_not_code_mixing(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["sorry yaar", "it's all good yaar, do not worry"]) == "en"


@pytest.mark.parametrize(
    ("expected", "turn"),
    [
        ("en+fr", "on se retrouve devant la gare ce soir"),
        ("de+en", "morgen muss ich leider wieder arbeiten"),
        ("en+it", "domani non posso venire con voi"),
        ("en+es", "mañana tengo que trabajar todo el día"),
        ("en+nl", "morgen heb ik helaas geen tijd"),
        ("en+pt", "amanhã eu não posso sair com você"),
        ("en+pl", "jutro muszę iść do pracy"),
        ("en+fi", "huomenna en pääse tulemaan juhliin"),
        ("en+tr", "yarın sabah erken kalkmam lazım"),
        ("en+sv", "jag måste jobba hela helgen"),
        ("en+id", "besok aku harus kerja lagi"),
        ("en+hi", "kal mujhe office jaana hai yaar"),
    ],
)
def test_one_whole_turn_in_another_language_makes_a_mixture(
    identifier: LanguageIdentifier, expected: str, turn: str
) -> None:
    around = ["are you free on the weekend?", "sorry, what does that mean? i only speak english"]
    assert identifier.identify([around[0], turn, around[1]]) == expected
    assert identifier.identify([*around, turn]) == expected


@pytest.mark.parametrize(
    "turn",
    ["lol", "ok", "Oluwaseun!!", "Giancarlo Esposito", "okie dokie", "woohoo yayyy", "au revoir", "hola amigo",
     "gd nyt", "i wrk 2mrw so cnt cum", "y so suddnly", "dim sum and pad thai", "C’est la vie!",
     "Scarlett Johansson, Ryan Gosling", "realy gud movi", "aaargh noooo"],
)  # fmt: skip
def test_short_or_misspelt_turn_is_not_code_mixing(identifier: LanguageIdentifier, turn: str) -> None:
    assert identifier.identify(["what did you say yesterday?", turn, "haha that is so funny"]) == "en"


def test_a_foreign_turn_does_not_change_a_speakers_language(identifier: LanguageIdentifier) -> None:
    texts = ["are you free on the weekend?", "domani non posso venire con voi", "that was a quote from the film"]
    speaker = [{"speaker": "Ann", "text": text} for text in texts]
    assert user_languages([Dialogue.of(speaker)]) == {"Ann": "en"}


def test_masks_names_and_links_are_ignored(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["<NAME> <EMAIL> @pourquoi_tu http://je.suis.fr/la"]) == "und"


def test_emoticon_in_another_script_is_not_a_language(identifier: LanguageIdentifier) -> None:
    assert identifier.identify(["sorry i dropped this ノ( ゜-゜ノ)"]) == "en"


@pytest.mark.parametrize(
    ("expected", "text"),
    [
        ("or", "ହଁ"),
        ("or", "ନା"),
        ("or", "ମୁଁ"),
        ("or", "ok ହଁ"),
        ("or", "ହଁ 😂"),
        ("hi", "हाँ"),
        ("ko", "haha 네"),
        ("zh", "好"),
    ],
)
def test_a_word_of_one_letter_in_another_script_is_not_english(
    identifier: LanguageIdentifier, expected: str, text: str
) -> None:
    assert identifier.identify([text]) == expected


@pytest.mark.parametrize("text", ["lol ¯\\_(ツ)_/¯", "ಠ_ಠ", "ok (ノ゜-゜)ノ", "( ͡° ͜ʖ ͡°)", "(´・ω・`)", "ok ℹ️", "१२३"])
def test_faces_and_signs_are_no_language(identifier: LanguageIdentifier, text: str) -> None:
    assert identifier.identify([text]) == "und"


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
