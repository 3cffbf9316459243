"""Write the cards and the tables of docs/results/quality.md from the results."""

from pathlib import Path

from benchmarks.common.pages import write_section
from benchmarks.common.tables import read_rows
from benchmarks.quality import places
from benchmarks.quality.card_numbers import unsupported_numbers
from benchmarks.quality.facts import keep_results, renewed
from benchmarks.quality.measure import MIN_SLICE
from benchmarks.quality.page_tables import Trial, behaviour, checks, notes, overview, quantisation, slices, trials
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import write_file
from emoscope.evaluation.card import CARD, CARD_JSON, card_text
from emoscope.evaluation.results import read_results


def render() -> None:
    """Write the tables of docs/results/quality.md, the experiments of docs/results/tried.md, and the cards."""
    models = [read_results(path) for path in sorted(places.RESULTS.glob("*.json"))]
    if not models:
        raise EmoscopeError(f"{places.RESULTS}: no results yet; make some with: python -m benchmarks.quality run")
    models = [renewed(results) for results in models]
    for results in models:
        keep_results(results)
        text = card_text(results)
        if wrong := unsupported_numbers(text, results):
            raise EmoscopeError(f"the card of {results.name} states numbers that were not measured: {', '.join(wrong)}")
        targets = [places.PAGES / f"card-{results.name}.md"]
        if (places.ASSETS / results.name).is_dir():
            targets.append(places.ASSETS / results.name / CARD)
            _write(places.ASSETS / results.name / CARD_JSON, results.model_dump_json(exclude_none=True) + "\n")
        for target in targets:
            _write(target, text)
    log = [Trial.model_validate(row) for row in read_rows(places.TABLES / "tried.csv")]
    sections = {
        "cards": "Model cards: " + ", ".join(f"[{each.name}](card-{each.name}.md)" for each in models) + ".",
        "scores": "\n\n".join([overview(models), *notes(models)]),
        "slices": f"{slices(models)}\n\nBelow {MIN_SLICE} items there is no score.",
        "checks": checks(models),
        "behaviour": behaviour(models),
        "quantisation": quantisation(read_rows(places.TABLES / "quantisation.csv")),
    }
    for name, text in sections.items():
        write_section(places.PAGES / "quality.md", name, text)
    write_section(places.PAGES / "tried.md", "tried", trials(log))


def _write(target: Path, text: str) -> None:
    write_file(target, text)
    print(target)
