"""Options of the filters: own lexicons, human review, languages by user, topics, speakers' names, identity numbers."""

import json
from pathlib import Path
from typing import Any

import pytest

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.filters.borderline import read_decisions
from emoscope.corpus.filters.language import LanguageFilter, user_languages
from emoscope.corpus.filters.lexicon import LexiconFilter
from emoscope.corpus.filters.numbers import chat_phones, identity_numbers
from emoscope.corpus.filters.offensive import OffensiveFilter, abuse_scores
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.review import DialogueFilter
from emoscope.corpus.filters.sensitive import STANDARD, Topic, topics_of
from emoscope.corpus.filters.standard import standard_filters
from emoscope.corpus.filters.table import filter_table
from emoscope.corpus.pipeline.windows import ROLES
from kits.corpus_command import run


def table(folder: Path, *dialogues: list[str]) -> str:
    file = folder / "in.jsonl"
    file.write_text("".join(json.dumps({"id": f"d{n}", "turns": turns}) + "\n" for n, turns in enumerate(dialogues)))
    return str(file)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_custom_lexicon(tmp_path: Path) -> None:
    words = tmp_path / "ours.txt"
    words.write_text("# internal\nProject Falcon\nlayoff*\n")
    found = LexiconFilter(words).review(
        [Dialogue.of([text]) for text in ("any LAYOFFS?", "PROJECT   falcon!", "a falcon", "the project")]
    )
    assert [one.reason for one in found] == ["lexicon:ours", "lexicon:ours", None, None]
    words.write_text("# nothing\n")
    with pytest.raises(EmoscopeError, match="has no words"):
        LexiconFilter(words)


def test_words_with_marks_are_found(tmp_path: Path) -> None:
    words = tmp_path / "ours.txt"
    words.write_text(" # indented\nC++\nshut up!\n(falcon\nf*ck\n")
    texts = ("we use C++ daily", "C++", "shut up! now", "say falcon", "f*ck it", "a C student", "indented")
    found = LexiconFilter(words).review([Dialogue.of([text]) for text in texts])
    assert [one.reason is not None for one in found] == [True, True, True, True, True, False, False]


@pytest.mark.parametrize("entry", ["*", "!!!", "\N{POUTING FACE}", "प्यार", "*ing", "gift * card"])
def test_a_line_of_a_lexicon_that_finds_nothing_or_everything_is_an_error(tmp_path: Path, entry: str) -> None:
    words = tmp_path / "ours.txt"
    words.write_text(f"layoff*\n{entry}\n", encoding="utf-8")
    with pytest.raises(EmoscopeError, match=r"ours\.txt, row 2: .*(no word in Latin letters|ending of the last word)"):
        LexiconFilter(words)


def test_borderline_dialogues_wait_for_people(tmp_path: Path) -> None:
    source = table(
        tmp_path, ["what a lovely day"], ["fuck this shit"], ["fuck this shit, call me on 555-0123"], ["die whore"]
    )
    filters: list[DialogueFilter] = standard_filters(languages=None, personal="mask", review=True)
    report = filter_table(source, tmp_path / "first", filters)
    assert (report.kept, report.to_review, report.dropped) == (1, 2, 1)
    waiting = rows(tmp_path / "first" / "review.jsonl")
    assert waiting == [
        {"task": "d1", "turns": ["fuck this shit"]},
        {"task": "d2", "turns": ["fuck this shit, call me on <PHONE>"]},
    ]
    judged = tmp_path / "judged.csv"
    judged.write_text("task,worker,label\nd1,ann,drop\nd1,ben,keep\nd2,ann,keep\n")
    report = filter_table(source, tmp_path / "second", filters, decisions=read_decisions([judged]))
    assert [row["id"] for row in rows(tmp_path / "second" / "kept.jsonl")] == ["d0", "d2"]  # a tie drops
    assert (report.to_review, report.dropped) == (0, 2)
    assert not (tmp_path / "second" / "review.jsonl").exists()


def test_personal_data_are_dropped_and_doubtful_ones_judged(tmp_path: Path) -> None:
    personal = ["my name is lakshmi", "call me on 555-0123", "mail me: anna.smith@gmail.com", "i live at 12 oak street"]
    doubtful = ["only riya answers me", "the order 4455667788 is late", "riya, sing for me"]
    source = table(tmp_path, *([text] for text in (*personal, *doubtful, "we met on 2023-10-12", "so happy today")))
    filtered = ("corpus", "filter", source, "--personal", "drop", "--review", "--json", "-o")
    code, out, _ = run(*filtered, tmp_path / "first")
    assert code == 0
    report = json.loads(out)
    assert report["filters"]["personal"]["dropped"] == {"personal data": len(personal)}
    assert (report["kept"], report["to_review"]) == (2, len(doubtful))
    waiting = rows(tmp_path / "first" / "review.jsonl")
    assert [row["turns"] for row in waiting] == [[text] for text in doubtful]

    judged = tmp_path / "judged.csv"
    judged.write_text("task,worker,label\nd4,ann,drop\nd5,ann,keep\nd6,ann,drop\n")
    code, out, _ = run(*filtered, tmp_path / "second", "--judgements", judged)
    assert (code, json.loads(out)["filters"]["review"]["dropped"]) == (0, {"judged drop": 2})
    assert [row["id"] for row in rows(tmp_path / "second" / "kept.jsonl")] == ["d5", "d7", "d8"]


def test_only_the_chosen_kinds_are_in_doubt(tmp_path: Path) -> None:
    source = table(tmp_path, ["only riya answers me"], ["the order 4455667788 is late"], ["riya, ring 415 555 2671"])

    def waiting(folder: str, **settings: Any) -> list[list[str]]:
        filter_table(source, tmp_path / folder, standard_filters(review=True, **settings))
        file = tmp_path / folder / "review.jsonl"
        return [row["turns"] for row in rows(file)] if file.exists() else []

    assert waiting("off", personal="off") == []
    assert waiting("email", kinds=["email"]) == []
    assert waiting("name", personal="mask", kinds=["name", "email"])[0] == ["only riya answers me"]
    masked = waiting("phone", personal="mask", kinds=["phone"])
    assert masked == [["the order 4455667788 is late"]]  # what is masked is not in doubt


def test_review_leaves_out_what_another_filter_drops(tmp_path: Path) -> None:
    """A row that personal data drop is neither set aside nor counted for `review`, nor is its judgement asked for."""
    source = table(tmp_path, ["fuck this shit"], ["fuck this shit, mail me at ann@example.com"], ["je m'en fous, fuck"])
    filters = standard_filters(review=True)
    report = filter_table(source, tmp_path / "first", filters)
    assert (report.kept, report.to_review, report.dropped) == (0, 1, 2)
    assert report.filters["review"].dropped == {}
    assert [row["task"] for row in rows(tmp_path / "first" / "review.jsonl")] == ["d0"]
    dropped = rows(tmp_path / "first" / "dropped.jsonl")
    assert [[reason["filter"] for reason in row["reasons"]] for row in dropped] == [["personal"], ["language"]]
    report = filter_table(source, tmp_path / "second", filters, decisions={"d0": "drop", "d1": "keep"})
    assert report.filters["review"].dropped == {"judged drop": 1}
    reasons = rows(tmp_path / "second" / "dropped.jsonl")[0]["reasons"]
    assert [(reason["filter"], reason["reason"]) for reason in reasons] == [("review", "judged drop")]


def test_decisions_are_keep_or_drop(tmp_path: Path) -> None:
    judged = tmp_path / "judged.csv"
    judged.write_text("task,worker,label\nd1,ann,maybe\n")
    with pytest.raises(EmoscopeError, match="judged 'maybe'; a review has the labels keep and drop"):
        read_decisions([judged])


def said(speaker: str, *texts: str) -> Dialogue:
    return Dialogue.of([{"speaker": speaker, "text": text} for text in texts])


def test_a_users_language_decides_where_a_message_is_too_short() -> None:
    chats = [
        said("Luc", "je ne sais pas quoi faire demain"),
        said("Luc", "ok lol"),
        said("Ann", "i have no idea, you?"),
    ]
    users = user_languages(chats)
    assert users == {"Luc": "fr", "Ann": "en"}
    assert [one.reason for one in LanguageFilter(["en"], users=users).review(chats)] == [
        "other language", "other language", None,
    ]  # fmt: skip
    assert LanguageFilter(["en"]).review(chats)[1].reason is None


def test_a_users_language_does_not_outweigh_the_dialogues_own() -> None:
    chats = [said("Ann", "je ne sais pas quoi faire ce soir"), said("Luc", "where are you going tonight?")]
    for each in (LanguageFilter(["en"]), LanguageFilter(["en"], users={"Ann": "en", "Luc": "fr"})):
        assert [one.reason for one in each.review(chats)] == ["other language", None]


def test_a_user_of_two_languages_decides_nothing() -> None:
    chats = [said("Ann", "i told you already"), said("Ann", "main theek hoon, tum batao"), said("Ann", "lol ok")]
    assert user_languages(chats) == {}


def test_roles_are_not_people() -> None:
    """All users of a file are not one person: a mixed file is judged dialogue by dialogue."""
    french, english = "je ne sais pas quoi faire demain", "i have no idea, you?"
    chats = [said(role, text) for role in (*ROLES, "User", "assistant", "speaker1") for text in (french, english)]
    assert user_languages(chats) == {}
    people = [Dialogue((Turn("ok lol", "Luc"), Turn("ok", "agent"))), said("user", "ok lol")]
    users = user_languages([*chats, said("Luc", french)])
    assert users == {"Luc": "fr"}
    reasons = [one.reason for one in LanguageFilter(["en"], users=users).review([*chats[:2], *people])]
    assert reasons == ["other language", None, "other language", None]


def test_the_command_needs_names_to_know_users(tmp_path: Path) -> None:
    def filtered(name: str) -> tuple[int, str, str]:
        turns = [[{"speaker": name, "text": text}] for text in ("je ne sais pas quoi faire demain", "ok lol")]
        log = tmp_path / f"{name}.jsonl"
        log.write_text("".join(json.dumps({"turns": each}) + "\n" for each in turns))
        return run("corpus", "filter", log, "-o", tmp_path / name, "--language", "en", "--language-by-user", "--json")

    code, out, _ = filtered("u-4711")
    assert (code, json.loads(out)["filters"]["language"]["dropped"]) == (0, {"other language": 2})
    code, _, problem = filtered("user")
    assert code == 2
    assert "user.jsonl: no speaker with a name, not a role such as user, wrote enough in one language" in problem


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("did you vote for biden", Topic.POLITICS),
        ("the election is rigged", Topic.POLITICS),
        ("he is a jewish man", Topic.ETHNICITY),
        ("she converted to islam", Topic.ETHNICITY),
        ("someone stole my car", Topic.CRIME),
        ("he was arrested for fraud", Topic.CRIME),
    ],
)
def test_topics_that_are_dropped_on_demand(text: str, topic: Topic) -> None:
    assert topics_of(text) == []
    assert topics_of(text, tuple(Topic)) == [topic]
    assert topic not in STANDARD


@pytest.mark.parametrize(
    "text",
    ["vote for pizza", "office politics", "black coffee", "my partner in crime", "you stole my heart", "oh my god"],
)
def test_look_alikes_of_these_topics(text: str) -> None:
    assert topics_of(text, tuple(Topic)) == []


@pytest.mark.parametrize(
    "text", ["fuck off", "you are so annoying", "this exam killed me lol", "shut up!!", "i hate you"]
)
def test_anger_is_not_abuse(text: str) -> None:
    assert abuse_scores([text]) == [0.0]


@pytest.mark.parametrize("text", ["you dirty wh0re", "i'll break your legs", "hope you die", "k i l l yourself"])
def test_abuse(text: str) -> None:
    assert OffensiveFilter().review([Dialogue.of([text])])[0].reason == "offensive"


def test_speakers_own_names_are_always_masked() -> None:
    turns = [
        {"speaker": "Zorblax Quint", "text": "hi, i am here"},
        {"speaker": "agent", "text": "ok zorblax, the agent will call Quint"},
    ]
    review = PersonalFilter(mask=True).review([Dialogue.of(turns)])[0]
    assert review.dialogue.texts == ("hi, i am here", "ok <NAME>, the agent will call <NAME>")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("my aadhaar is 4321 8765 2109 ok", "4321 8765 2109"),
        ("ssn 219-09-9999", "219-09-9999"),
        ("employee id is EMP-20417", "EMP-20417"),
        ("my account number is 30418829", "30418829"),
    ],
)
def test_identity_numbers(text: str, value: str) -> None:
    assert {text[span.start : span.end] for span in identity_numbers(text)} == {value}
    assert value not in PersonalFilter(mask=True).review([Dialogue.of([text])])[0].dialogue.texts[0]


@pytest.mark.parametrize(
    "text", ["my id is lost", "sector 7", "order no 4455667788", "i have 2 plots", "member since 2012"]
)
def test_no_identity_numbers(text: str) -> None:
    assert not list(identity_numbers(text))
    assert not list(chat_phones(text))
