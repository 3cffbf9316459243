"""What is known about a model except its scores: each figure and each sentence has one source."""

import tomllib
from pathlib import Path
from typing import Any

from benchmarks.common.provenance import seal
from benchmarks.common.tables import read_rows
from benchmarks.quality import places
from benchmarks.quality.estimates import with_estimates
from emoscope.core.files import whole_text, write_file
from emoscope.core.learnt import LearntItems
from emoscope.detector.bundle import FILE
from emoscope.evaluation.card import CARD, CARD_JSON
from emoscope.evaluation.results import AboutModel, LearntFigures, ModelResults, Speed


def renewed(results: ModelResults) -> ModelResults:
    """Results with what other files say of the model as it is now.

    That is words, speed, estimates of blind scores, and size and record if embedded.
    """
    folder = places.ASSETS / results.name
    update: dict[str, Any] = {"about": about(results.name), "speed": speed(results.name)}
    if (folder / FILE).is_file():
        update |= of_folder(folder)
    return with_estimates(results.model_copy(update=update))


def keep_results(results: ModelResults) -> None:
    """Write a model's results; what is not scores comes from elsewhere, so that their record stays true."""
    target = places.RESULTS / f"{results.name}.json"
    target.parent.mkdir(parents=True, exist_ok=True)
    write_file(target, results.model_dump_json(indent=1) + "\n")
    seal(target)


def about(name: str) -> AboutModel:
    """What is written by hand about a model."""
    return AboutModel.model_validate(tomllib.loads(whole_text(places.ABOUT / f"{name}.toml")))


def of_folder(folder: Path | None) -> dict[str, Any]:
    """The size of a model's files, without its card, and what it learnt."""
    if folder is None:
        return {}
    size = sum(
        file.stat().st_size for file in folder.rglob("*") if file.is_file() and file.name not in (CARD, CARD_JSON)
    )
    learnt = LearntItems.load(folder)
    figures = LearntFigures(items=len(learnt), sources=dict(learnt.sources)) if learnt else None
    return {"size_bytes": size, "learnt": figures}


def speed(name: str) -> Speed | None:
    """What the speed benchmark measured of a model, if anything."""
    rows = [row for row in read_rows(places.TABLES / "speed.csv") if row["model"] == name]
    if not rows:
        return None
    figures = [{"name": row["figure"], "value": row["value"], "unit": row["unit"]} for row in rows]
    return Speed.model_validate({"machine": rows[0]["machine"], "figures": figures})
