"""`emoscope corpus augment`: other wordings of every turn, by translating it there and back."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from emoscope.cli.output import JsonOption, console, counted, print_json, table
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.mining.embedder import open_embedder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emoscope.corpus.augment.files import DialogueFile
    from emoscope.corpus.augment.run import AugmentCounts
    from emoscope.corpus.augment.translator import Engine

EngineName = Literal["apertium", "argos", "marian"]
_VIA: dict[EngineName, str] = {"apertium": "es,ca", "argos": "de,fr,it", "marian": "de,fr,it"}


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("augment")(augment_cli)


def augment_cli(
    source: Annotated[
        str, typer.Argument(metavar="INPUT", help="Dialogues: EmotionX's JSON, CSV, TSV, JSONL or Parquet.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write; with the same name, a run goes on.")],
    engine: Annotated[EngineName, typer.Option("--engine", help="What translates.")],
    via: Annotated[
        str | None,
        typer.Option("--via", help="Languages to go through, such as es,ca.", show_default="what the engine is for"),
    ] = None,
    similarity: Annotated[
        float | None,
        typer.Option("--similarity", min=0.0, max=1.0, help="Drop variants less like the original than this."),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", help="Folder of `emoscope corpus encoder` to compare by, instead of by characters."),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("--model", help="For marian: folders or hub names, with {source} and {target} in them."),
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="Column with the text to translate.")] = None,
    format: Annotated[str | None, typer.Option("--format", help="Of the input: csv, tsv, jsonl or parquet.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Add back-translations of every turn, leaving out those that say nothing new or something else."""
    languages = [language.strip() for language in (via or _VIA[engine]).split(",") if language.strip()]
    counts = augment_file(
        source,
        output,
        engine=_engine(engine, model),
        via=languages,
        similarity=similarity,
        encoder=encoder,
        column=column,
        format=format,
    )
    if as_json:
        print_json({"engine": engine, **counts.as_dict()})
        return
    columns = list(counts.dropped)
    reasons = [reason for reason in _reasons() if any(counts.dropped[language][reason] for language in columns)]
    rows: list[list[object]] = [["kept", *(counts.kept[language] for language in columns)]]
    rows += [[f"dropped: {reason}", *(counts.dropped[language][reason] for language in columns)] for reason in reasons]
    console().print(f"{counts.turns:,} turns of {counts.dialogues:,} dialogues, with variants, in {output}\n")
    console().print(table("Variants", ["", *columns], rows))


def augment_file(
    source: str,
    output: Path,
    *,
    engine: "Engine",
    via: Sequence[str],
    similarity: float | None = None,
    encoder: str | None = None,
    column: str | None = None,
    format: str | None = None,
) -> "AugmentCounts":
    """Write a file with back-translations; what a killed run has done is not done again."""
    from emoscope.corpus.augment.backtranslation import BackTranslator
    from emoscope.corpus.augment.meaning import EmbeddingSimilarity
    from emoscope.corpus.augment.run import augment

    file = _dialogue_file(source, column, format)
    measure = EmbeddingSimilarity(open_embedder(encoder)) if encoder else None
    translate = BackTranslator(engine, via, similarity=similarity, measure=measure)
    return augment(file, output, translate, watch=_watched)


def _watched(items: "Iterator[Any]") -> "Iterator[Any]":
    with counted("dialogues", items) as passing:
        yield from passing


def _reasons() -> tuple[str, ...]:
    from emoscope.corpus.augment.backtranslation import REASONS

    return REASONS


def _engine(name: EngineName, model: str | None) -> "Engine":
    if (name == "marian") != (model is not None):
        raise EmoscopeError("--engine marian needs --model, and no other engine takes it")
    if name == "apertium":
        from emoscope.corpus.augment.apertium import Apertium

        return Apertium()
    if name == "argos":
        from emoscope.corpus.augment.argos import Argos

        return Argos()
    from emoscope.corpus.augment.marian import Marian

    return Marian(str(model))


def _dialogue_file(source: str, column: str | None, format: str | None) -> "DialogueFile":
    from emoscope.corpus.augment.files import EmotionXFile, TableFile
    from emoscope.tables.json_stream import array_elements

    if Path(source).suffix.lower() == ".json":
        if column or format:
            raise EmoscopeError(f"{source}: --column and --format are for tables, not for EmotionX's JSON")
        return EmotionXFile(source, array_elements)
    return TableFile(source, column=column, format=format)
