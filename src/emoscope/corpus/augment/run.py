"""Give a whole file its variants: batch by batch, picked up where a kill left it, with what was dropped and why."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.files import existing_file
from emoscope.corpus.augment.backtranslation import REASONS, BackTranslator, Variant
from emoscope.corpus.augment.files import DialogueFile
from emoscope.corpus.augment.journal import Journal

BATCH = 1000  # texts; enough that starting an engine for each batch does not matter
Watch = Callable[[Iterator[Any]], Iterator[Any]]


@dataclass(slots=True)
class AugmentCounts:
    """How many dialogues and turns were read, and for each language how many variants were kept, or dropped and why."""

    dialogues: int = 0
    turns: int = 0
    kept: Counter[str] = field(default_factory=Counter)
    dropped: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, variants: Sequence[dict[str, Variant]]) -> None:
        """Count one dialogue."""
        self.dialogues += 1
        self.turns += len(variants)
        for own in variants:
            for language, variant in own.items():
                reasons = self.dropped.setdefault(language, Counter())
                if variant.reason is None:
                    self.kept[language] += 1
                else:
                    reasons[variant.reason] += 1

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "dialogues": self.dialogues,
            "turns": self.turns,
            "via": {
                language: {
                    "kept": self.kept[language],
                    "dropped": {reason: reasons[reason] for reason in REASONS},
                }
                for language, reasons in self.dropped.items()
            },
        }


def augment(
    source: DialogueFile,
    output: str | Path,
    translate: BackTranslator,
    *,
    batch: int = BATCH,
    watch: Watch = lambda items: items,
) -> AugmentCounts:
    """Write the source with the variants of every turn.

    What is done lies in a journal beside the output until all is done: the same call after a kill goes on from there,
    and writes the same bytes.
    """
    target = Path(output)
    if existing_file(source.path).resolve() == target.resolve():
        raise EmoscopeError(f"{output}: is the input itself; write to another file")
    source.check_output(str(output))
    with Path(source.path).open("rb") as handle:
        digest = file_digest(handle, "sha256").hexdigest()
    settings = {"input": digest, "batch": batch, **translate.description()}
    journal = Journal(target.with_name(f".{target.name}.journal"), settings)
    _translate_rest(source, journal, translate, batch, watch)
    counts = AugmentCounts()
    with source.writer(str(output)) as write:
        for item, variants in zip(source.items(translate.via), _variants(journal), strict=True):
            counts.add(variants)
            write(source.reworded(item, variants))
    journal.remove()
    return counts


def _translate_rest(
    source: DialogueFile, journal: Journal, translate: BackTranslator, batch: int, watch: Watch
) -> None:
    """Translate the batches that the journal does not have."""
    for number, items in enumerate(_batches(source, watch(source.items(translate.via)), batch)):
        if number < journal.length:
            continue
        made = iter(translate([text for texts in items for text in texts]))
        journal.append([[_entry(next(made)) for _ in texts] for texts in items])


def _batches(source: DialogueFile, items: Iterator[Any], batch: int) -> Iterator[list[Sequence[str]]]:
    """The texts of whole dialogues, cut at the same places every time."""
    waiting: list[Sequence[str]] = []
    size = 0
    for item in items:
        waiting.append(source.texts(item))
        size += len(waiting[-1])
        if size >= batch:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


def _entry(variants: dict[str, Variant]) -> dict[str, list[str | None]]:
    return {language: [variant.text, variant.reason] for language, variant in variants.items()}


def _variants(journal: Journal) -> Iterator[list[dict[str, Variant]]]:
    for items in journal.entries():
        for item in items:
            yield [{language: Variant(*entry) for language, entry in own.items()} for own in item]
