"""Notes: messages that are not English, and words of self-harm."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import emoscope
from benchmarks.quality.notes import written_messages
from emoscope.core.language import language_of
from emoscope.core.self_harm import mentions_self_harm
from emoscope.detector.notes import LANGUAGE_NOTES, SELF_HARM_NOTE, notes_of, notes_of_all

OTHER = [
    "no sé qué hacer, estoy muy triste", "je suis tellement contente pour toi", "ich bin so wütend auf dich",
    "estou muito feliz hoje", "sono molto arrabbiato con te", "ik ben zo blij voor jou", "bugün çok mutluyum",
    "aku sangat sedih hari ini", "dlaczego mi to robisz, jestem wściekły", "kya hua yaar, bahut dukh hua",
    "я очень рад за тебя", "今日はとても悲しいです", "나 너무 화가 나",
    "मैं बहुत खुश हूँ",
    "أنا سعيد جدا اليوم", "我今天很难过",
    "te odio", "je t'aime", "ti odio", "vaffanculo", "scheiße", "oye I am so happy",
]  # fmt: skip
ENGLISH = [
    "omg ur sooo funny lmaooo 😂😂", "Ravi and Siobhán went to São Paulo with José", "ikr smh rn tbh", "LOL",
    "🎉🎉🎉", "",
    "k", "wtf dude i cant even", "see u tmrw @ 5pm http://t.co/x", "¯\\_(ツ)_/¯ whatever", "café au lait pls",
    "Die, my darling",
    "ain't nobody got time fo dat", "I'm so happy for you!!", "Ben! Ben! Ben!", "déjà vu, I was here before",
    "gracias amigo!", "danke, see you tomorrow", "ciao Bella", "such angst", "so content", "that's rotten, moe",
]  # fmt: skip


@pytest.mark.parametrize("text", OTHER)
def test_other_languages_are_noticed(text: str) -> None:
    assert language_of(text) != "english"


@pytest.mark.parametrize("text", ENGLISH)
def test_english_is_not_flagged(text: str) -> None:
    assert language_of(text) == "english"


def test_short_messages_of_feeling_are_noticed() -> None:
    messages = written_messages()["short"]
    noticed = [text for text in messages if language_of(text) != "english"]
    assert len(messages) == 48
    assert len(noticed) >= 40


# What the quick look in C has to tell apart: words, phrases, and the spellings that hide them.
PIECES = st.sampled_from((
    "want", "to", "die", "DIE", "k.i.l", "k1ll", "kiil", "yaar", "kya", "end", "it", "m", "gone", "go", "on", "on't",
    "be", "here", "xqz", "vbn", "self-harm", "life's", "don't", " ", " ", " ", "-", "'", ".", "_", "*", "\n", "\t",
    "\x00", "\x01", "\x1c", "é", "…", "😂", "❤️", "’", "aaa", "a b c", "!", "@", "7", "www.", "#", "<", "[", "]", "http://",
    "que", "'que'", "&amp;", "/",
))  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(PIECES, max_size=30).map("".join), max_size=5))
def test_many_messages_get_the_notes_of_each(texts: list[str]) -> None:
    texts += [*OTHER, *ENGLISH]
    assert notes_of_all(texts) == {place: notes for place, text in enumerate(texts) if (notes := notes_of(text))}


def test_long_messages_get_their_notes_too() -> None:
    texts = ["so good " * 200, "so good " * 200 + "i want to kill myself", "x" * 9000, "to stop"]
    assert notes_of_all(texts) == {place: notes for place, text in enumerate(texts) if (notes := notes_of(text))}


@pytest.mark.parametrize("model", ["default", "nano"])
def test_not_english_is_less_sure(model: str) -> None:
    detector = emoscope.load(model, labels="emocontext")
    detector = detector.with_(prior=dict.fromkeys(detector.labels, 1.0))
    found = detector.detect(["je suis tellement contente 😂😂😂"])
    assert found.note == LANGUAGE_NOTES["other"]
    assert found.score < 0.8
    assert sum(found.scores.values()) == pytest.approx(1)
    assert detector.detect(["I am so happy 😂😂😂"]).note is None
    assert found.as_dict()["note"] == found.note
    assert detector.detect("te odio").note == LANGUAGE_NOTES["other"]


@pytest.mark.parametrize(
    "text",
    [
        "I don't want to live anymore", "i just wanna die tbh", "she tried to kill herself", "nobody would miss me",
        "i hate myself", "wish i was never born", "there's no reason to go on", "I want to end my life :)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("labels", ["emocontext", "emotionx", "ekman"])
def test_self_harm_is_neither_anger_nor_joy(text: str, labels: str) -> None:
    found = emoscope.load(labels=labels).detect([text])
    assert SELF_HARM_NOTE in (found.note or "")
    assert sum(found.scores.get(label, 0) for label in ("anger", "angry", "joy", "happy")) == 0
    assert sum(found.scores.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    "text",
    [
        "kill me now lol", "I'm dying 😂😂", "this traffic is killing me", "that cake is to die for", "my phone died",
        "gonna kill myself if there is one more meeting lol", "you are killing it!", "I cut myself shaving",
        "feed the cat when I'm gone, you're the best",
        "I died laughing", "drop dead gorgeous", "the deadline is Friday",
    ],
)  # fmt: skip
def test_hyperbole_is_not_self_harm(text: str) -> None:
    assert not mentions_self_harm(text)


def test_laughing_does_not_undo_a_wish_to_die() -> None:
    found = emoscope.load().detect(["lol i want to die 😂"])
    assert found.note is not None and found.label not in ("joy", "anger")


def test_predictions_for_a_task_are_left_as_they_are() -> None:
    from emoscope.core.dialogue import Dialogue, Example

    detector = emoscope.load("nano", prior=emoscope.load("nano").training_prior)
    example = Example.last(Dialogue.of(["i want to kill myself, i hate you"]))
    assert detector.predict_examples([example])[0, detector.labels.index("angry")] > 0
