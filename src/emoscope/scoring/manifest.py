"""The manifest of a run: inputs, model, counts, the mix of labels and its drift; written when all parts exist."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.models.label_shift import estimate_prior, shift_prior
from emoscope.scoring.output import MANIFEST, SCORES, UNREADABLE, OutputFolder, rejects_file, scores_file
from emoscope.scoring.plan import FORMAT, ScoringPlan
from emoscope.tables.files import open_parquet
from emoscope.tables.writing import detection_names

# A prior is estimated from this many rows, spread evenly; its shares are then exact to about a thousandth.
SAMPLE_ROWS, SAMPLE_PARTS = 200_000, 200


@dataclass(frozen=True, slots=True)
class ScoringManifest:
    """The content of `manifest.json`; the same inputs and model give the same bytes."""

    format: str
    settings: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    unreadable: Sequence[Mapping[str, str]]
    skipped: Sequence[str]  # files of unknown format in the input folders
    part_rows: int
    rows: int
    scored: int
    rejected: int
    parts: Sequence[Mapping[str, Any]]
    labels: Mapping[str, int]
    mean_scores: Mapping[str, float]
    estimated_prior: Mapping[str, float]
    model_prior: Mapping[str, float]
    drift: float | None


class PartCounts:
    """The counts of every part, as reported by workers or read from the footers of existing files."""

    def __init__(self, parts: int, labels: Sequence[str]) -> None:
        self.labels = labels
        self.scored, self.rejected = np.zeros(parts, np.int64), np.zeros(parts, np.int64)
        self.chosen = np.zeros((len(labels), parts), np.int64)
        self.sums = np.zeros((len(labels), parts))

    def add(self, part: int, footer: Mapping[str, Any]) -> None:
        self.scored[part], self.rejected[part] = footer["scored"], footer["rejected"]
        for number, label in enumerate(self.labels):
            self.chosen[number, part], self.sums[number, part] = footer["labels"][label], footer["sums"][label]

    def total(self, values: NDArray[Any]) -> dict[str, Any]:
        """The sum for each label, added in the order of the parts, so that it is the same to the last digit."""
        last = np.cumsum(values, axis=1)[:, -1:].sum(1) if values.size else np.zeros(len(self.labels), values.dtype)
        return dict(zip(self.labels, last.tolist(), strict=True))


def write_manifest(
    plan: ScoringPlan, output: OutputFolder, detector: Detector, counts: PartCounts, skipped: Sequence[str] = ()
) -> ScoringManifest:
    """Check that no part and no row is missing, and write the manifest."""
    labels = detector.labels
    sizes = output.sizes(SCORES)
    parts: list[dict[str, Any]] = []
    for part, (done, refused) in enumerate(zip(counts.scored.tolist(), counts.rejected.tolist(), strict=True)):
        name = scores_file(part)
        if name not in sizes or done + refused != plan.part_size(part):
            raise EmoscopeError(
                f"{output.path}/{name}: is missing or not whole; do all workers write to the same {output.path}?"
            )
        parts.append({"file": name, "rows": done + refused, "scored": done, "rejected": refused, "bytes": sizes[name]})
        if refused:
            parts[-1]["rejects"] = rejects_file(part)
    scored, sums = sum(part["scored"] for part in parts), counts.total(counts.sums)
    estimated = _estimated_prior(plan, output, detector, scored)
    if plan.unreadable:
        rows = ({"file": path, "row": None, "reason": reason} for path, reason in plan.unreadable)
        output.write_jsonl(UNREADABLE, rows)
    manifest = ScoringManifest(
        format=FORMAT,
        settings=plan.settings,
        inputs=[
            {**{key: value for key, value in asdict(file.source).items() if value != ""}, "rows": file.rows}
            for file in plan.files
        ],
        unreadable=[{"path": path, "reason": reason} for path, reason in plan.unreadable],
        skipped=skipped,
        part_rows=plan.part_rows,
        rows=sum(part["rows"] for part in parts),
        scored=scored,
        rejected=sum(part["rejected"] for part in parts),
        parts=parts,
        labels=counts.total(counts.chosen),
        mean_scores={label: sums[label] / scored if scored else 0.0 for label in labels},
        estimated_prior=estimated,
        model_prior=detector.prior,
        drift=drift(estimated, detector.prior) if estimated else None,
    )
    output.write_json(MANIFEST, {each.name: getattr(manifest, each.name) for each in fields(manifest)})
    return manifest


def drift(estimated: Mapping[str, float], expected: Mapping[str, float]) -> float:
    """The distance of two mixes of labels: the share of rows that would have to change their label.

    >>> round(drift({"happy": 0.3, "others": 0.7}, {"happy": 0.1, "others": 0.9}), 3)
    0.2
    """
    return sum(abs(estimated[label] - expected[label]) for label in expected) / 2


def _estimated_prior(plan: ScoringPlan, output: OutputFolder, detector: Detector, scored: int) -> dict[str, float]:
    """The mix of labels that explains the scores best; empty without scores."""
    if not scored:
        return {}
    _, _, _, *names = detection_names(detector.labels, plan.schema.names)
    parts = range(0, plan.parts, -(-plan.parts // SAMPLE_PARTS))
    step = max(1, -(-scored * len(parts) // (plan.parts * SAMPLE_ROWS)))
    samples = []
    for part in parts:
        with open_parquet(output.at(scores_file(part))) as file:
            table = file.read(names)
        samples.append(np.stack([table.column(name).to_numpy() for name in names], axis=1)[::step].astype(np.float64))
    expected, trained = (np.array(list(prior.values())) for prior in (detector.prior, detector.training_prior))
    estimated = estimate_prior(shift_prior(np.concatenate(samples), expected, trained), trained)
    return dict(zip(detector.labels, estimated.tolist(), strict=True))
