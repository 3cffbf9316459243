"""The filters on the sets they are measured with: no worse than what docs/results/filters.md says."""

import pytest

from emoscope.corpus.filters.identify import LanguageIdentifier
from emoscope.corpus.filters.shipped import error_rates

pytest.importorskip("benchmarks", reason="the benchmarks are not in the package")

from benchmarks.filters.abuse import count_abuse
from benchmarks.filters.language import count_kept, count_language, language_set
from benchmarks.filters.names import count_names, total_of
from benchmarks.filters.personal import count_personal, personal_set, unmarked
from benchmarks.filters.sensitive import count_sensitive, sensitive_set
from benchmarks.filters.sets import PARTS


def test_the_marks_are_taken_out() -> None:
    text, spans = unmarked("a [[EMAIL:x[at]y[dot]org]] and [[NAME:Ann]]")
    assert text == "a x[at]y[dot]org and Ann"
    assert [text[span.start : span.end] for span in spans] == ["x[at]y[dot]org", "Ann"]


def test_the_sets_are_large_and_have_no_line_in_both_parts() -> None:
    personal = list(personal_set())
    assert len(personal) >= 500
    parts = {part: {line for name, line in personal if name == part} for part in PARTS}
    assert not parts["tuned"] & parts["held out"]
    languages = {part: [tuple(turns) for _, turns in language_set(part)] for part in PARTS}
    assert sum(map(len, languages.values())) >= 200
    # What nobody writes more than one way ("lol") may stand in both.
    assert all(len(turns[0].split()) <= 2 for turns in set(languages["tuned"]) & set(languages["held out"]))
    sensitive = {part: {text for _, text in sensitive_set(part)} for part in PARTS}
    assert sum(map(len, sensitive.values())) >= 300
    assert not sensitive["tuned"] & sensitive["held out"]


def test_personal_data() -> None:
    tallies = count_personal()
    assert tallies["tuned"].errors == []
    held_out, reported = tallies["held out"], error_rates()["personal"]
    assert held_out.sentences == reported["items"]
    for kind, tally in held_out.kinds.items():
        assert tally.recall == pytest.approx(reported["kinds"][kind.value]["recall"], abs=1e-4)
        assert tally.precision == pytest.approx(reported["kinds"][kind.value]["precision"], abs=1e-4)


def test_languages() -> None:
    groups, _ = count_language(LanguageIdentifier(), "held out")
    reported = error_rates()["language"]["groups"]
    assert set(groups) == set(reported)
    for group, (lines, named, kept) in groups.items():
        assert named / lines == pytest.approx(reported[group]["named_rightly"], abs=1e-4)
        assert kept / lines == pytest.approx(reported[group]["kept_or_dropped_rightly"], abs=1e-4)


def test_little_of_other_languages_is_kept_as_english() -> None:
    identifier = LanguageIdentifier()
    for name in ("fresh", "fresh_held_out"):
        counts = count_kept(identifier, name).values()
        assert sum(kept for _, kept in counts) <= 0.03 * sum(number for number, _ in counts)


@pytest.mark.parametrize("part", PARTS)
def test_names_of_ten_cultures(part: str) -> None:
    found = total_of(count_names(part)[0])
    assert found.recall >= 0.97
    assert found.precision >= 0.9


def test_abuse_is_dropped_and_anger_kept() -> None:
    assert count_abuse("tuned") == {"to_drop": 169, "dropped": 169, "to_pass": 146, "stopped": 0}
    fresh, reported = count_abuse("fresh"), error_rates()["abuse"]
    assert fresh == {name: reported[name] for name in fresh}
    assert fresh["dropped"] >= 19


def test_sensitive_topics() -> None:
    held_out, reported = count_sensitive("held out"), error_rates()["sensitive"]
    assert held_out.stopped / held_out.harmless == pytest.approx(reported["look_alikes_stopped"], abs=1e-4)
    for topic, tally in held_out.topics.items():
        assert tally.recall == pytest.approx(reported["topics"][topic.value]["recall"], abs=1e-4)
        assert tally.precision == pytest.approx(reported["topics"][topic.value]["precision"], abs=1e-4)
