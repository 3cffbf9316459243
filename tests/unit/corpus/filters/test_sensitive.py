"""Sensitive topics: found in any spelling, not in look-alikes, and counted by reason."""

import codecs
import json
import pickle
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.core.plain_words import plain_words
from emoscope.corpus.filters.credentials import discloses_credentials
from emoscope.corpus.filters.sensitive import STANDARD, SensitiveFilter, Topic, topics_of
from emoscope.corpus.pipeline.filter import FilterStep
from emoscope.corpus.pipeline.plan import load_plan
from kits.corpus_command import run
from kits.jsonl import read_jsonl


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("I'm gonna KILL myself", Topic.SELF_HARM),
        ("i wannaaa dieee", Topic.SELF_HARM),
        ("do u want s.e.x", Topic.SEXUAL),
        ("show me ur b00bs", Topic.SEXUAL),
        ("i will k!lllll youuu", Topic.VIOLENCE),
        ("he punched me in the face", Topic.VIOLENCE),
        ("he robbed a bank and murdered his wife", Topic.VIOLENCE),
        ("a guy killed his whole family", Topic.VIOLENCE),
        ("got any w33d", Topic.DRUGS),
        ("all jews are vermin", Topic.HATE),
        ("my sister has leukemia", Topic.HEALTH),
        ("my passw0rd is Tr33house!", Topic.CREDENTIALS),
    ],
)
def test_topics_in_chat_writing(text: str, topic: Topic) -> None:
    assert topics_of(text) == [topic]


@pytest.mark.parametrize(
    "text",
    [
        "this traffic is killing me",
        "shoot me a message",
        "I'd kill for a pizza",
        "mom will kill me if i'm late",
        "i don't want to die",
        "I never wanted to hurt you",
        "a can of coke and some hash browns",
        "my lithium battery died",
        "i have a black cat and a white dog",
        "what is the wifi password?",
        "my password is wrong again",
        "Bjørn and Søren left",
        "",
        "!!!",
    ],
)
def test_look_alikes_are_not_matched(text: str) -> None:
    assert topics_of(text) == []


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("IM soooo h4ppy", "i am so happy"),
        ("k i l l him", "kill him"),
        ("k*ll him, k*t", "kill him , k*t"),
        ("i k.i.l.l him", "i kill him"),
        ("can't, won't", "can not , will not"),
        ("a b c", "a b c"),
        ("hunter2 b4 1122", "hunter2 b4 1122"),
        ("naïve", "naive"),
        ("Bjørn, Łukasz, Straße", "bjorn , lukasz , strasse"),
    ],
)
def test_plain_words(text: str, plain: str) -> None:
    assert plain_words(text, {"kill"}).strip() == plain


@given(st.text(max_size=200))
def test_any_text_can_be_looked_at(text: str) -> None:
    assert set(topics_of(text)) <= set(Topic)
    assert discloses_credentials(text) == (Topic.CREDENTIALS in topics_of(text))


@pytest.mark.parametrize("piece", ["i will go to the ", "a ", "password ", "(", "my ", "he is so ", "x" * 50])
def test_a_long_text_does_not_take_forever(piece: str) -> None:
    begun = time.process_time()
    topics_of(piece * (20_000 // len(piece)))
    assert time.process_time() - begun < 5


def test_the_reason_names_all_topics_and_the_details_their_turns() -> None:
    dialogue = Dialogue.of(["kill all jews", "hi", "my pin is 4821, i will kill you"])
    (review,) = SensitiveFilter().review([dialogue])
    assert review.reason == "sensitive:violence and sensitive:hate and sensitive:credentials"
    assert review.details == {"turns": {"violence": [1, 3], "hate": [1], "credentials": [3]}}
    assert review.dialogue is dialogue
    assert SensitiveFilter(["drugs"]).review([dialogue])[0].reason is None


def test_topics_are_chosen_by_name() -> None:
    chosen = SensitiveFilter(["violence", "self-harm"])
    assert chosen.settings == {"topics": ["self-harm", "violence"]}
    assert pickle.loads(pickle.dumps(chosen)).settings == chosen.settings
    with pytest.raises(EmoscopeError, match="no sensitive topic 'gossip'; there are: self-harm"):
        SensitiveFilter(["gossip"])
    with pytest.raises(EmoscopeError, match="no sensitive topic to look for"):
        SensitiveFilter([])


def test_topics_are_added_to_the_standard_ones(tmp_path: Path) -> None:
    assert SensitiveFilter(["crime", "standard"]).topics == (*STANDARD, Topic.CRIME)
    assert SensitiveFilter(["all"]).topics == tuple(Topic)
    plan = tmp_path / "plan.toml"
    (tmp_path / "log.jsonl").write_text('["hi"]\n')
    head = 'name = "a"\ntitle = "A"\ndescription = "Made up."\nlabels = ["x", "y"]\nterms = "None."\n'
    collect = '[[steps]]\nuse = "collect"\ninputs = [{ path = "log.jsonl" }]\n'
    plan.write_text(f'{head}{collect}[[steps]]\nuse = "filter"\nsensitive = ["standard", "crime"]\n')
    step = load_plan(plan).steps[1]
    assert isinstance(step, FilterStep)
    assert step.sensitive == (*STANDARD, Topic.CRIME)
    for wrong in ('["gossip"]', '"standard"', "[1]"):
        plan.write_text(f'{head}{collect}[[steps]]\nuse = "filter"\nsensitive = {wrong}\n')
        with pytest.raises(EmoscopeError, match=r"plan.toml, step 2 \(filter\): 'sensitive") as problem:
            load_plan(plan)
        assert "\n" not in str(problem.value)


def test_every_topic_of_the_emocontext_paper_can_be_dropped(tmp_path: Path) -> None:
    said = {
        "sexual": "do you want to watch porn with me",
        "politics": "did you vote for biden",
        "ethnicity": "she converted to islam last year",
        "violence": "he punched me in the face",
        "crime": "he was arrested for fraud",
        "drugs": "where can i buy cocaine",
    }
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps([text]) + "\n" for text in (*said.values(), "good morning, how are you?")))
    code, out, _ = run(
        "corpus", "filter", log, "-o", tmp_path / "kept", "--sensitive", "standard,politics,ethnicity,crime", "--json"
    )
    assert (code, json.loads(out)["kept"]) == (0, 1)
    dropped = read_jsonl(tmp_path / "kept" / "dropped.jsonl")
    assert [[reason["reason"] for reason in row["reasons"]] for row in dropped] == [
        [f"sensitive:{topic}"] for topic in said
    ]


def test_the_command_drops_topics_and_counts_them(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text('["i want to kill myself"]\n["good morning"]\n["do you have any weed"]\n')
    others = ("--offensive", "off", "--personal", "off", "--language", "off", "--json")
    code, out, _ = run("corpus", "filter", log, "-o", tmp_path / "all", *others)
    assert code == 0
    found = json.loads(out)["filters"]["sensitive"]
    assert found["dropped"] == {"sensitive:drugs": 1, "sensitive:self-harm": 1}
    assert set(found["error_rates"]["topics"]) == set(STANDARD)
    reasons = read_jsonl(tmp_path / "all" / "dropped.jsonl")
    assert reasons[0]["reasons"] == [
        {"filter": "sensitive", "reason": "sensitive:self-harm", "turns": {"self-harm": [1]}}
    ]
    code, out, _ = run("corpus", "filter", log, "-o", tmp_path / "drugs", "--sensitive", "drugs", *others)
    assert json.loads(out)["filters"]["sensitive"]["dropped"] == {"sensitive:drugs": 1}
    assert "gossip" in run("corpus", "filter", log, "-o", tmp_path / "no", "--sensitive", "gossip", *others)[2]


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("he keeps asking for topless photos", [Topic.SEXUAL]),
        ("they posted a naked selfie of her", [Topic.SEXUAL]),
        ("i would fuck you all weekend", [Topic.SEXUAL]),
        ("show me a photo of you without a shirt", [Topic.SEXUAL]),
        ("she sent him pictures with no bra", [Topic.SEXUAL]),
        ("a picture without a frame", []),
        ("i just swallowed forty sleeping pills", [Topic.SELF_HARM]),
        ("took 2 pills for the pain, took 20 mg of meds", []),
        ("well fuck you all then", []),
        ("fuck you all, i quit", []),
        ("there is a coal tit on the feeder", []),
        ("mexican guys are just begging all day", [Topic.HATE]),
        ("immigrants are always cheating", [Topic.HATE]),
        ("my stepfather keeps touching me at night", [Topic.VIOLENCE]),
        ("this song touches me when i am sad", []),
        ("he forced himself on her", [Topic.VIOLENCE]),
        ("the bomb will go off tonight", [Topic.VIOLENCE]),
        ("she bombed her driving test", []),
        ("they bombed the airport", [Topic.VIOLENCE]),
        ("i beat my cousin at ping pong", []),
        ("he beat my brother at a wedding", [Topic.VIOLENCE]),
        ("the women are lying on the beach", []),
    ],
)
def test_topics_and_their_look_alikes(text: str, topics: list[Topic]) -> None:
    assert topics_of(text) == topics


def test_disguised_slurs_are_found_with_each_ending() -> None:
    for slur in ("s4ttbg", "a1ttref"):
        assert topics_of(f"dirty {codecs.decode(slur, 'rot13')}") == [Topic.HATE]


def test_hyperbole_about_food_is_not_a_crime() -> None:
    assert topics_of("i could really murder some fries", [Topic.CRIME]) == []
    assert topics_of("he said he could murder some girl", [Topic.CRIME]) == [Topic.CRIME]
