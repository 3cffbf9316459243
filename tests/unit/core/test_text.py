import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict
from itertools import islice, product
from pathlib import Path

import pytest
from emoji import EMOJI_DATA
from hypothesis import given, settings
from hypothesis import strategies as st

from emoscope.core import emoticons
from emoscope.core import text as text_module
from emoscope.core.emoticons import emoji_words
from emoscope.core.mojibake import repair_mojibake
from emoscope.core.text import (
    TextCounts,
    emoticons_in,
    normalise,
    normalise_text,
    strip_emoticons,
    words,
)
from emoscope.tasks import get_task

# Arbitrary characters seldom meet: these pieces make links, faces, broken encodings and their near misses.
PIECES = [
    *":;=8BxXDdPpoO0TtuQcC3<>()[]{}|/\\^_-~*.,!?'\"`´’‑@#$& ",
    *"aeéßÃÂâ€™œ”…ðŸ˜‚\x92\x85\x9d\x81\xa0\u200b\u200d\ufe0f\ufe0e\ufeff\ud83d\ude02İΣ",
    *("😂", "👍🏽", "👩‍👩‍👧", "❤️", "♡", "🇩🇪", "🇩", "1️⃣", "🏻", "©", "™️", "ಠ_ಠ", "¯\\_(ツ)_/¯", "(・ω・)"),
    *("http://", "www.", "url.removed", "@USERNAME", "@user", "<url>", "[#TRIGGERWORD#]", "[#targetword#]"),
    *("[NEWLINE]", "&amp;", "&lt;", "amp;", "#38;", "ooo", "III", "!!", "?!", "not", "8:0", "(a:b)", "A)", "C:", "\n"),
]
messy = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
anything = st.one_of(st.text(st.characters(exclude_categories=())), messy)


EXAMPLES = [
    # Emoji, apart from their neighbours
    ("😂", "face with tears of joy"),
    ("love😂you", "love face with tears of joy you"),
    ("😭😭", "loudly crying face loudly crying face"),
    ("ok👍🏽!", "ok thumbs up !"),
    ("👩‍👩‍👧 ❤️ ❤", "family woman woman girl red heart red heart"),
    ("🇩🇪 1️⃣ ♡", "germany keycap 1 heart"),
    ("© 2019 Acme™", "© 2019 Acme™"),
    # Emoticons
    ("hi :)", "hi smiling face"),
    ("thank you:)", "thank you smiling face"),
    ("bye :-(((", "bye frowning face"),
    ("why :'(", "why crying face"),
    ("aww :’‑)", "aww smiling face with tear"),
    ("hm :/ hm :-| hm", "hm confused face hm neutral face hm"),
    ("ha :D:D xD XDDD", "ha grinning face grinning face grinning squinting face grinning squinting face"),
    ("so silly:p", "so silly face with tongue"),
    ("ok ;) ;-] ;P", "ok winking face winking face winking face with tongue"),
    (">:( >:)", "angry face smiling face with horns"),
    ("^_^ (^o^) ^^", " ".join(["smiling face with smiling eyes"] * 3)),
    ("T_T ;_; (T_T)", "loudly crying face crying face loudly crying face"),
    ("-_- -.- o_O >.<", "expressionless face expressionless face astonished face persevering face"),
    ("<3 </3 love<3<3", "red heart broken heart love red heart red heart"),
    (
        ":* :O :3 :$ :x :S",
        "face blowing a kiss face with open mouth grinning cat flushed face zipper-mouth face confounded face",
    ),
    ("(: ): D: c:", "smiling face frowning face anguished face smiling face"),
    ("cool 8) B-)", "cool smiling face with sunglasses smiling face with sunglasses"),
    (r"¯\_(ツ)_/¯ \o/ (y)", "person shrugging raising hands thumbs up"),
    ("(just kidding :)", "(just kidding smiling face"),
    ("(oh no T_T)", "(oh no loudly crying face )"),
    ("&lt;3 :&apos;(", "red heart crying face"),
    # What only looks like one
    ("at 8:0 or 10:30", "at 8:0 or 10:30"),
    ("(a:b) {c:d} a:D", "(a:b) {c:d} a:D"),
    ("(see below:) yes:)", "(see below:) yes smiling face"),
    ("colours:(red, blue)", "colours:(red, blue)"),
    ("Bob (friend): hi", "Bob (friend): hi"),
    (r"C:\Users D:\games c:/x", r"C:\Users D:\games c:/x"),
    ("A) tea B) milk", "A) tea B) milk"),
    ("B) milk", "B) milk"),
    ("C: why? D: because", "C: why? D: because"),
    ("x=3 1 =3 0.0 0-0 <30 3<3", "x=3 1 =3 0.0 0-0 <30 3<3"),
    ("boxes, x-ray, exdirectory", "boxes, x-ray, exdirectory"),
    ("[#TRIGGERWORD#]: me:[NEWLINE]you", "[#TRIGGERWORD#]: me: you"),
    ("=> -> ==> x >= 3", "=> -> ==> x >= 3"),
    # Runs
    ("soooo coool", "soo cool"),
    ("World War III, XVIII", "World War III, XVIII"),
    ("iiiii 1000 111 ²²²", "ii 1000 111 ²²²"),
    ("no!! why??? well,,", "no! why? well,"),
    ("what?!?! what!?", "what?! what!?"),
    ("hm.. hm... hm…. end.", "hm… hm… hm… end."),
    ("ㅋㅋㅋㅋ", "ㅋㅋ"),
    # Names, links, masks
    ("@bob hi @USERNAME: lol@USERNAME", "@user hi @user: lol @user"),
    ("me@example.com @5pm @ home", "me@example.com @5pm @ home"),
    ("see http://url.removed, or www.a.com/:/b!", "see <url>, or <url>!"),
    ("xhttps://t.co/a:)b😂", "x <url> face with tears of joy"),
    ("un[#TRIGGERWORD#] [#targetword#]", "un[#TRIGGERWORD#] [#TRIGGERWORD#]"),
    ("a[NEWLINE][NEWLINE]b\n\tc\xa0d\u200be", "a b c d e"),
    # Broken encodings
    ("I\x92m here\x85", "I'm here…"),
    ("itâ€™s ðŸ˜‚ cafÃ©", "it's face with tears of joy café"),
    ("don&apos;t &amp;amp; R&B &#8217;", "don't & R&B '"),
    # Nothing to do
    ("", ""),
    ("   ", ""),
    ("I do not know, 3 of 4.", "I do not know, 3 of 4."),
    ("\ud800 ok \udfff", "\ud800 ok \udfff"),
]


@pytest.mark.parametrize(("written", "plain"), EXAMPLES)
def test_examples(written: str, plain: str) -> None:
    assert normalise(written).text == plain
    assert normalise_text(written) == plain


def test_changes_are_counted() -> None:
    found = normalise("OMG @bob I\x92m SOOO happy!!! 😂👍🏽 :) <3 http://t.co/x [#TargetWord#] I DON'T")
    assert found.text == (
        "OMG @user I'm SOO happy! face with tears of joy thumbs up smiling face red heart <url> [#TRIGGERWORD#] I DON'T"
    )
    assert found.counts == TextCounts(
        emoji=2,
        emoticons=2,
        elongations=1,
        repeated_punctuation=1,
        users=1,
        urls=1,
        triggers=1,
        repaired=1,
        shouted=3,  # OMG, SOOO, DON'T; a lone I is not shouted
    )


def test_plain_text_counts_nothing() -> None:
    assert normalise("I do not know, 3 of 4.").counts == TextCounts()


def test_lowercase_keeps_the_mask_and_still_counts_shouts() -> None:
    found = normalise("WHY NOooO [#triggerword#]", lowercase=True)
    assert found.text == "why noo [#TRIGGERWORD#]"
    assert (found.counts.shouted, found.counts.elongations, found.counts.triggers) == (1, 1, 1)


def test_results_are_immutable_and_travel_between_processes() -> None:
    found = normalise("hi :)")
    with pytest.raises(FrozenInstanceError):
        found.text = "x"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(found)) == found


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("\x93I\x92m\x94 \x96 \x85", "“I’m” – …"),
        ("â€œitâ€™sâ€\x9d â€¦ â€”", "“it’s” … —"),
        ("â\x80\x99", "’"),  # UTF-8 read as Latin-1
        ("Ã¢â‚¬â„¢", "’"),  # and twice as Windows-1252
        ("cafÃ© SÃ£o Ã‘andÃº Â£5 â™¥", "café São Ñandú £5 ♥"),
        ("Ð¿Ñ€Ð¸Ð²ÐµÑ‚", "привет"),
        ("donÂ’t", "don’t"),
        ("&amp;lt;3 &quot;a&quot; &#233;", '<3 "a" é'),
    ],
)
def test_mojibake_is_mended(broken: str, mended: str) -> None:
    assert repair_mojibake(broken) == mended


@pytest.mark.parametrize(
    "written",
    [
        "“désolé…”",
        "voilà\xa0»",
        "„Spaß”",
        "KŘÍŽ",
        "“IRMÔ!",
        "à\xa0€5",
        "hâlâ…”",
        "AT&T; &copy &#65;",
        "\x81",
        "naïve café",
    ],
)
def test_text_that_may_be_meant_is_not_mended(written: str) -> None:
    assert repair_mojibake(written) == written


def test_emoticons_are_listed_in_order_as_written() -> None:
    assert emoticons_in("👩‍👩‍👧 hi :-)) 😂👍🏽 <3 http://a.b/:)c 8:0 ™ xD") == [
        "👩‍👩‍👧",
        ":-))",
        "😂",
        "👍🏽",
        "<3",
        "xD",
    ]
    assert emoticons_in("nothing here") == []
    assert emoticons_in(":P:P:P <3<3 :3:3:3") == [":P", ":P", ":P", "<3", "<3", ":3", ":3", ":3"]


def test_an_utterance_of_emoticons_has_no_words() -> None:
    assert strip_emoticons(" 😂 :) \n <3 👍🏽 ") == ""
    assert words("😂 :) <3 xD :'( T_T") == []
    assert strip_emoticons("so  funny😂 right :P ?") == "so funny right ?"


def test_words() -> None:
    assert words("I DON’T think it's 3.5 or 1,000 at 4:30 -- ok_then?") == (
        ["i", "don't", "think", "it's", "3.5", "or", "1,000", "at", "4:30", "ok", "then"]
    )
    assert words("I\x92m 'quoted' @bob http://a.b [#TRIGGERWORD#] [NEWLINE] end") == ["i'm", "quoted", "end"]
    assert words("हिन्दी é e\u0301") == ["हिन्दी", "é", "e\u0301"]


@given(anything, st.booleans())
@settings(max_examples=400)
def test_normalising_twice_is_normalising_once(text: str, lowercase: bool) -> None:
    once = normalise(text, lowercase=lowercase)
    twice = normalise(once.text, lowercase=lowercase)
    assert twice.text == once.text
    assert normalise_text(text, lowercase=lowercase) == once.text
    assert min(asdict(once.counts).values()) >= 0
    # What was changed is changed for good; what was marked is still marked.
    changes = twice.counts
    assert changes.emoji == changes.emoticons == changes.elongations == 0
    assert changes.repeated_punctuation == changes.repaired == 0
    assert (changes.users, changes.urls, changes.triggers) == (
        (once.counts.users, once.counts.urls, once.counts.triggers)
    )


@given(anything)
@settings(max_examples=200)
def test_a_text_is_only_changed_with_a_count_or_in_its_white_space(text: str) -> None:
    counts = normalise(text).counts
    if counts == TextCounts(shouted=counts.shouted):
        kept = text.translate(str.maketrans("’‘‛ʼ“”„‟‐‑", "''''\"\"\"\"--"))
        for space in (
            "[NEWLINE]",
            "[newline]",
            "\u200b",
            "\u2060",
            "\ufeff",
            *map(chr, (*range(32), *range(127, 160))),
        ):
            kept = kept.replace(space, " ")
        assert normalise_text(text) == " ".join(kept.split())


@given(anything)
@settings(max_examples=200)
def test_repairing_and_stripping_twice_is_doing_it_once(text: str) -> None:
    assert repair_mojibake(repair_mojibake(text)) == repair_mojibake(text)
    stripped = strip_emoticons(text)
    assert strip_emoticons(stripped) == stripped
    assert emoticons_in(stripped) == []
    assert all(word and not word.isspace() for word in words(text))


@given(anything)
@settings(max_examples=200)
def test_the_quick_search_misses_no_token(text: str) -> None:
    whole = [match for at in range(len(text)) if (match := text_module._token(False).match(text, at))]
    assert all(text_module._TOKEN_START.match(text, match.start()) for match in whole)


@given(
    st.lists(
        st.sampled_from(
            ["not", "no", "never", "don't", "can't", "n't", "isn’t", "I", "you", "happy", "7", "42", "3.5", "1000"]
        ),
        min_size=1,
    )
)
def test_negations_numbers_and_word_order_are_kept(said: list[str]) -> None:
    plain = [word.replace("’", "'") for word in said]
    assert normalise_text(" ".join(said)).split() == plain
    decorated = " 😂 :) ".join(said)
    assert strip_emoticons(decorated).split() == said
    assert words(decorated) == words(" ".join(plain))


def test_every_emoji_is_one_and_its_words_are_plain() -> None:
    text_by_default = set("©®‼⁉™ℹ")
    for written in set(EMOJI_DATA) - text_by_default:
        name = emoji_words(written)
        assert name
        assert normalise_text(name) == name
        assert strip_emoticons(name) == name
        assert emoticons_in(f"a{written}b") == [written]


def test_emoticons_are_called_what_their_emoji_are() -> None:
    emoji_names = {emoji_words(written) for written in EMOJI_DATA}
    for name, _ in emoticons._FACES:
        assert name in emoji_names
        assert normalise_text(name) == name


def test_every_face_of_eyes_nose_and_mouth_is_known() -> None:
    for eyes, nose, mouth in product(":;=", ["", "-", "^"], [")", "(", "]", "[", "D", "P", "/", "\\", "*", "o"]):
        face = eyes + nose + mouth
        assert emoticons_in(f"well {face} then") == [face]
        assert normalise(f"{face}{mouth} then").counts.emoticons == 1


def test_skin_tone_changes_nothing() -> None:
    tones = ["", *map(chr, range(0x1F3FB, 0x1F400))]
    assert {normalise_text(f"ok 👍{tone}") for tone in tones} == {"ok thumbs up"}
    assert {normalise_text(f"🤦{tone}‍♀️") for tone in tones} == {"woman facepalming"}


@pytest.mark.parametrize(
    "piece", [":P", "x", ")", "&#38;", "&amp;", "a:)", "(:", "c: ", "👩‍", "@_", "http://!", "Ã¢", ":3", "^", "o_"]
)
def test_a_long_text_takes_no_longer_than_its_length(piece: str) -> None:
    # In quadratic time these would take minutes.
    long = piece * 20_000
    assert normalise_text(normalise_text(long)) == normalise_text(long)


def test_importing_does_not_load_the_emoji_package() -> None:
    code = (
        "import sys, emoscope.core.text as t; t.normalise('hi :) it’s…'); t.words('a :)');"
        "assert 'emoji' not in sys.modules; t.normalise('😂'); assert 'emoji' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


DATA_FILES = {
    "emocontext": ["emocontext/train.txt", "emocontext/dev.txt"],
    "emotionx-friends": ["emotionx/friends.json"],
    "emotionx-push": ["emotionx/emotionpush.json"],
    "iest": ["iest/labelled.csv"],
}


@pytest.mark.data
@pytest.mark.parametrize("task", DATA_FILES)
def test_real_turns_are_normalised_once_and_for_all(task: str, data_folder: Path) -> None:
    for file in DATA_FILES[task]:
        examples = get_task(task).read(data_folder / file)
        for example in islice(examples, 0, None, 7):
            for text in example.dialogue.texts if task == "emocontext" else (example.text,):
                for lowercase in (False, True):
                    once = normalise_text(text, lowercase=lowercase)
                    assert normalise_text(once, lowercase=lowercase) == once
                counts = normalise(text).counts
                assert counts.emoji + counts.emoticons == len(emoticons_in(text))
                assert emoticons_in(strip_emoticons(text)) == []


@pytest.mark.data
def test_friends_is_mended(data_folder: Path) -> None:
    examples = get_task("emotionx-friends").read(data_folder / "emotionx/friends.json")
    repaired = [normalise(example.text) for example in islice(examples, 2000)]
    assert sum(found.counts.repaired for found in repaired) > 500
    assert not any("\x80" <= character <= "\x9f" for found in repaired for character in found.text)
