"""Add back-translations to a whole file in batches, so that a killed run can resume."""

import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import check_other_file, existing_file
from emoscope.corpus.augment.backtranslation import REASONS, BackTranslator, Variant
from emoscope.corpus.augment.engines import Engine
from emoscope.corpus.augment.files import DialogueFile, open_dialogue_file
from emoscope.corpus.augment.meaning import EmbeddingSimilarity
from emoscope.corpus.mining.embedder import open_embedder
from emoscope.corpus.progress import ShowProgress, no_progress
from emoscope.parallel.parts import PartFolder

BATCH = 1000  # texts; large enough that starting an engine per batch costs little


@dataclass(slots=True)
class LanguageCounts:
    """The variants through one language: how many were kept, and how many dropped, by reason."""

    kept: int = 0
    dropped: dict[str, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))


@dataclass(slots=True)
class AugmentCounts:
    """How many dialogues and turns were read, and the variant counts of each language."""

    dialogues: int = 0
    turns: int = 0
    via: dict[str, LanguageCounts] = field(default_factory=dict)

    def add(self, variants: Sequence[dict[str, Variant]]) -> None:
        """Count one dialogue."""
        self.dialogues += 1
        self.turns += len(variants)
        for by_language in variants:
            for language, variant in by_language.items():
                counts = self.via.setdefault(language, LanguageCounts())
                if variant.reason is None:
                    counts.kept += 1
                else:
                    counts.dropped[variant.reason] += 1


def augment(
    source: DialogueFile,
    output: str | Path,
    translate: BackTranslator,
    *,
    batch: int = BATCH,
    progress: ShowProgress = no_progress,
) -> AugmentCounts:
    """Write the source with variants of every turn; a killed run resumes and gives the same bytes."""
    target = Path(output)
    check_other_file(output, existing_file(source.path))
    source.check_output(str(output))
    if not target.parent.is_dir():
        raise EmoscopeError(f"{target.parent}: no such folder to write into")
    description = json.dumps(translate.description(), sort_keys=True)
    folder = PartFolder(target.with_name(f".{target.name}.parts"), description, ".json")

    def translate_batch(part: bytes) -> bytes:
        dialogues = json.loads(part)
        variants = iter(translate([text for texts in dialogues for text in texts]))
        return json.dumps([[next(variants) for _ in texts] for texts in dialogues]).encode()

    texts = _batches(source, progress("translating", source.items(translate.via)), batch)
    parts = list(folder.fill(texts, translate_batch))
    translated = (dialogue for path in parts for dialogue in json.loads(path.read_bytes()))
    counts = AugmentCounts()
    with source.writer(str(output)) as write:
        for item, turns in zip(source.items(translate.via), translated, strict=True):
            variants = [{language: Variant(*entry) for language, entry in turn.items()} for turn in turns]
            counts.add(variants)
            write(source.reworded(item, variants))
    shutil.rmtree(folder.folder, ignore_errors=True)
    return counts


def augment_file(
    source: str,
    output: str | Path,
    engine: Engine,
    via: Sequence[str],
    *,
    similarity: float | None = None,
    encoder: str | None = None,
    keep_all: bool = False,
    column: str | None = None,
    format: str | None = None,
    progress: ShowProgress = no_progress,
) -> AugmentCounts:
    """Augment a file; variants are compared by characters, or by vectors of the sentence encoder in a folder.

    With `keep_all`, none is dropped, as in EmotionX's published files.
    """
    file = open_dialogue_file(source, column=column, format=format)
    measure = EmbeddingSimilarity(open_embedder(encoder)) if encoder else None
    translate = BackTranslator(engine, via, similarity=similarity, measure=measure, keep_all=keep_all)
    return augment(file, output, translate, progress=progress)


def _batches(source: DialogueFile, items: Iterator[Any], batch: int) -> Iterator[bytes]:
    """Batches of whole dialogues' texts, split at the same places every time."""
    dialogues: list[Sequence[str]] = []
    size = 0
    for item in items:
        dialogues.append(source.texts(item))
        size += len(dialogues[-1])
        if size >= batch:
            yield json.dumps(dialogues).encode()
            dialogues, size = [], 0
    if dialogues:
        yield json.dumps(dialogues).encode()
