"""The filters on the sets they are measured with: no worse than what docs/corpus.md says."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

from emoscope.corpus.filters.error_rates import error_rates
from emoscope.corpus.filters.identify import LanguageIdentifier

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "filters.py"
pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not in the package")


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_filters", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_the_marks_are_taken_out(benchmark: ModuleType) -> None:
    text, spans = benchmark.unmarked("a [[EMAIL:x[at]y[dot]org]] and [[NAME:Ann]]")
    assert text == "a x[at]y[dot]org and Ann"
    assert [text[span.start : span.end] for span in spans] == ["x[at]y[dot]org", "Ann"]


def test_the_sets_are_large_and_have_no_line_in_both_parts(benchmark: ModuleType) -> None:
    personal = list(benchmark.personal_set())
    assert len(personal) >= 500
    parts = {part: {line for name, line in personal if name == part} for part in benchmark.PARTS}
    assert not parts["tuned"] & parts["held out"]
    languages = {part: [tuple(turns) for _, turns in benchmark.language_set(part)] for part in benchmark.PARTS}
    assert sum(map(len, languages.values())) >= 200
    # What nobody writes more than one way ("lol") may stand in both.
    assert all(len(turns[0].split()) <= 2 for turns in set(languages["tuned"]) & set(languages["held out"]))


def test_personal_data(benchmark: ModuleType) -> None:
    tallies = benchmark.count_personal()
    assert tallies["tuned"].errors == []
    held_out, reported = tallies["held out"], error_rates("personal")
    assert held_out.sentences == reported["items"]
    for kind, tally in held_out.kinds.items():
        assert tally.recall == pytest.approx(reported["kinds"][kind.value]["recall"], abs=1e-4)
        assert tally.precision == pytest.approx(reported["kinds"][kind.value]["precision"], abs=1e-4)


def test_languages(benchmark: ModuleType) -> None:
    groups, _ = benchmark.count_language(LanguageIdentifier(), "held out")
    reported = error_rates("language")["groups"]
    assert set(groups) == set(reported)
    for group, (lines, named, kept) in groups.items():
        assert named / lines == pytest.approx(reported[group]["named_rightly"], abs=1e-4)
        assert kept / lines == pytest.approx(reported[group]["kept_or_dropped_rightly"], abs=1e-4)
