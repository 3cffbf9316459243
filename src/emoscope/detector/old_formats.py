"""Models written before every folder held one block: `kind` nano or encoder, and runs with a `system.json`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text
from emoscope.detector.bundle import FILE, FORMAT, Bundle, Head
from emoscope.models.block import Block

OLD_FORMAT = "emoscope-bundle-1"
_SYSTEM = "system.json"


def read_bundle(folder: Path, content: Mapping[str, Any]) -> dict[str, Any]:
    """The content of an old `bundle.json` as it would be written now."""
    format = content.get("format", OLD_FORMAT)
    if format != OLD_FORMAT:
        raise InputError(folder / FILE, f"has format {format!r}; this version reads {FORMAT!r} and {OLD_FORMAT!r}")
    heads = [dict(head) for head in content.get("heads", ())]
    if content["kind"] == "nano":
        heads = [_nano_head(folder, content, heads)]
    if content["kind"] == "blocks" and (folder / _SYSTEM).is_file():
        heads[0]["estimate"] = _settings(folder)["settings"].get("shift") == "estimate"
    for head in heads:
        head.setdefault("trained", {})
    return {"name": content["name"], "task": content["task"], "heads": heads}


def _nano_head(folder: Path, content: Mapping[str, Any], heads: list[dict[str, Any]]) -> dict[str, Any]:
    """The labels and their mix lay with nano's weights; a model with one head had its prior in the bundle."""
    from emoscope.models.linear.ngram_block import WEIGHTS
    from emoscope.models.linear.ngram_linear import NgramLinear

    classifier = NgramLinear.load(folder / WEIGHTS)
    head = heads[0] if heads else {"name": content["task"], "prior": content.get("prior")}
    labels = classifier.labels
    trained = dict(zip(labels, classifier.prior.tolist(), strict=True))
    return {"prior_source": content.get("prior_source"), **head, "labels": labels, "trained": trained}


def read_run(folder: Path) -> Bundle:
    """What the oldest runs say of themselves, which have no `bundle.json`."""
    from emoscope.tasks import get_task

    if not (folder / _SYSTEM).is_file():
        raise EmoscopeError(f"{folder}: holds no model ({FILE} is missing)")
    record, content = json.loads(whole_text(folder / "run.json")), _settings(folder)
    task = get_task(record["task"])
    shift, natural = content["settings"].get("shift", "none"), task.metadata.natural_prior
    decision = content.get("decision")
    head = Head(
        name=task.name,
        labels=task.labels,
        trained=dict(zip(task.labels, content["prior"], strict=True)),
        prior=natural if shift != "none" else None,
        prior_source=task.metadata.natural_prior_source if shift != "none" and natural else None,
        estimate=shift == "estimate",
        decision=None if decision is None else dict(zip(task.labels, decision, strict=True)),
    )
    return Bundle(name=record["system"], task=task.name, heads=(head,))


def _settings(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads(whole_text(folder / _SYSTEM))
        return {"settings": dict(content["settings"]), **content}
    except (json.JSONDecodeError, KeyError, TypeError, ValueError) as error:
        raise InputError(folder / _SYSTEM, f"does not hold a system's settings ({error})") from None


def read_block(folder: Path, bundle: Bundle) -> Block:
    """The model of an old bundle, as a block."""
    from emoscope.models.linear.ngram_block import WEIGHTS, NgramBlock

    if (folder / WEIGHTS).is_file():
        block = NgramBlock(bundle.head().labels)
        block.load_weights(folder)
        return block
    networks = sorted(path for path in folder.glob("network*") if path.is_dir())
    if not networks:
        raise EmoscopeError(f"{folder}: holds no model (expected a folder 'model')")
    from emoscope.models.ensembles.combine import Mean
    from emoscope.models.onnx.description import FILE as NETWORK
    from emoscope.models.onnx.exported_encoder import ExportedEncoder

    blocks, weights = [], []
    heads = {head.name: head.labels for head in bundle.heads}
    for network in networks:
        encoder = ExportedEncoder(heads=heads)
        encoder.load_weights(network)
        blocks.append(encoder)
        weights.append(float(json.loads(whole_text(network / NETWORK)).get("weight", 1.0)))
    return blocks[0] if len(blocks) == 1 else Mean(blocks, weights)
