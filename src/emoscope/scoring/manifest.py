"""What a run did: inputs, model, counts, the mix of labels and how far it drifted; written when all parts are there."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from emoscope.core.errors import EmoscopeError
from emoscope.detector import Detector
from emoscope.models.label_shift import estimate_prior, shift_prior
from emoscope.scoring.output import MANIFEST, UNREADABLE, OutputFolder, rejects_file, scores_file
from emoscope.scoring.part_file import read_footer
from emoscope.scoring.plan import FORMAT, ScoringPlan
from emoscope.tables.writing import detection_names

# The rows that a prior is estimated from, spread evenly: a share of them is off by a thousandth or so.
SAMPLE_ROWS, SAMPLE_PARTS = 200_000, 200


@dataclass(frozen=True, slots=True)
class ScoringManifest:
    """The content of `manifest.json`. The same inputs and model give the same one, to the byte."""

    format: str
    settings: Mapping[str, Any]
    inputs: Sequence[Mapping[str, Any]]
    unreadable: Sequence[Mapping[str, str]]
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


def write_manifest(plan: ScoringPlan, output: OutputFolder, detector: Detector) -> ScoringManifest:
    """Add up the parts' counts, make sure that no row is missing, and write the manifest."""
    labels = detector.labels
    parts, counts, sums = [], dict.fromkeys(labels, 0), dict.fromkeys(labels, 0.0)
    for part in range(plan.parts):
        name = scores_file(part)
        footer = read_footer(output, name)
        expected = sum(rows.count for rows in plan.row_ranges(part))
        if footer is None or not footer["rows"] == footer["scored"] + footer["rejected"] == expected:
            raise EmoscopeError(
                f"{output.path}/{name}: is missing or not whole; do all workers write to the same {output.path}?"
            )
        entry = {key: footer[key] for key in ("rows", "scored", "rejected")}
        parts.append({"file": name, **entry, "bytes": output.size(name)})
        if footer["rejected"]:
            parts[-1]["rejects"] = rejects_file(part)
        for label in labels:
            counts[label] += footer["labels"][label]
            sums[label] += footer["sums"][label]
    scored = sum(part["scored"] for part in parts)
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
        part_rows=plan.part_rows,
        rows=sum(part["rows"] for part in parts),
        scored=scored,
        rejected=sum(part["rejected"] for part in parts),
        parts=parts,
        labels=counts,
        mean_scores={label: sums[label] / scored if scored else 0.0 for label in labels},
        estimated_prior=estimated,
        model_prior=detector.prior,
        drift=drift(estimated, detector.prior) if estimated else None,
    )
    output.write_json(MANIFEST, asdict(manifest))
    return manifest


def drift(estimated: Mapping[str, float], expected: Mapping[str, float]) -> float:
    """How far two mixes of labels lie apart: the share of rows that would have to change their label.

    >>> round(drift({"happy": 0.3, "others": 0.7}, {"happy": 0.1, "others": 0.9}), 3)
    0.2
    """
    return sum(abs(estimated[label] - expected[label]) for label in expected) / 2


def _estimated_prior(plan: ScoringPlan, output: OutputFolder, detector: Detector, scored: int) -> dict[str, float]:
    """The mix of labels that explains the scores best; nothing without scores."""
    if not scored:
        return {}
    _, _, _, *names = detection_names(detector.labels, plan.schema.names)
    parts = range(0, plan.parts, -(-plan.parts // SAMPLE_PARTS))
    step = max(1, -(-scored * len(parts) // (plan.parts * SAMPLE_ROWS)))
    samples = []
    for part in parts:
        with output.parquet(scores_file(part)) as file:
            table = file.read(names)
        samples.append(np.stack([table.column(name).to_numpy() for name in names], axis=1)[::step].astype(np.float64))
    expected, trained = (np.array(list(prior.values())) for prior in (detector.prior, detector.training_prior))
    estimated = estimate_prior(shift_prior(np.concatenate(samples), expected, trained), trained)
    return dict(zip(detector.labels, estimated.tolist(), strict=True))
