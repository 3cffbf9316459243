"""`emoscope corpus annotate` and `annotate-export`: the annotation page, and what was said on it as files."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.options import GoldOption, MinGoldOption, plain, show
from emoscope.cli.options import SeedOption
from emoscope.cli.output import JsonOption, table
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import check_installed

if TYPE_CHECKING:
    from emoscope.corpus.annotation.items import Item
    from emoscope.server.annotate.rules import StudyRules
    from emoscope.server.store import Store

_PACKAGES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "jinja2")


def annotate(
    tasks: Annotated[
        Path,
        typer.Argument(
            metavar="TASKS",
            help="Dialogues: CSV, TSV, JSONL, Parquet, lines, Label Studio JSON, or with --task an official file.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the study, new or to go on with.")],
    annotators: Annotated[
        list[str] | None, typer.Option("--annotator", "-a", help="Somebody's name; repeatable. Each gets a link.")
    ] = None,
    judges: Annotated[int, typer.Option(min=1, help="How many judge an item; usually 7, 5 or 3.")] = 7,
    overlap: Annotated[
        float, typer.Option(min=0, max=1, help="Share of items that get all judges; the rest gets one.")
    ] = 1.0,
    labels: Annotated[
        str | None,
        typer.Option(help="Labels, with commas between.  \\[default: happy,sad,angry,others, or those of --task]"),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", "-t", help="TASKS is an official file of this task.")] = None,
    gold: GoldOption = None,
    gold_share: Annotated[
        float, typer.Option(help="Share of a worker's questions that are gold, after 3 early ones.")
    ] = 0.1,
    min_gold: MinGoldOption = 0.7,
    min_gold_answers: Annotated[
        int | None,
        typer.Option(min=1, help="Refuse by the plain share, from so many gold answers on; else by a sequential test."),
    ] = None,
    whole_dialogues: Annotated[
        bool, typer.Option("--whole-dialogues", help="Ask for the label of every turn, as EmotionX did.")
    ] = False,
    other_labels: Annotated[
        bool, typer.Option("--other-labels", help="Ask for other possible labels too, as IEST's human study did.")
    ] = False,
    seed: SeedOption = 1,
    serve: Annotated[bool, typer.Option(help="Serve the page, or only set the study up.")] = True,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port to listen on.")] = 8000,
    public_url: Annotated[str | None, typer.Option(help="The address people use, e.g. behind a proxy.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Have dialogues judged on a page of their own: blind, one at a time, by keyboard or phone.

    Prints a link for each annotator, then serves the page until it is stopped. The same command goes on with the study.
    """
    check_installed(*_PACKAGES, extra="server")
    from emoscope.corpus.annotation.items import read_study
    from emoscope.server.annotate.rules import StudyRules

    items, offered = read_study(tasks, task, labels, whole=whole_dialogues)
    rules = StudyRules.checked(
        labels=offered,
        judges=judges,
        overlap=overlap,
        whole_dialogues=any(item.whole for item in items),
        other_labels=other_labels,
        gold_share=gold_share,
        min_gold=min_gold,
        min_gold_answers=min_gold_answers,
        seed=seed,
    )
    address = (public_url or f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}").rstrip("/")
    tokens = set_up(output, rules, items, gold, annotators or ())
    links = {name: f"{address}/annotate#{token}" for name, token in tokens.items()}
    summary = f"{len(items):,} items, {rules.judges} judges each; the study is in {output}"
    people = [f"{name}: {link}" for name, link in links.items()] or ["nobody is let in yet: give --annotator NAME"]
    value = {"folder": output, "items": len(items), "rules": rules.model_dump(), "links": links}
    show(value, [plain("\n".join([summary, *people]))], as_json=as_json)
    if serve:
        import uvicorn

        from emoscope.server.annotate.app import create_annotation_app
        from emoscope.server.settings import Settings

        settings = Settings(data_dir=output, database_url=_database_url(output), public_url=public_url)
        uvicorn.run(create_annotation_app(settings), host=host, port=port, access_log=False, server_header=False)


def set_up(
    folder: Path, rules: "StudyRules", items: "Sequence[Item]", gold: Path | None, names: Sequence[str]
) -> dict[str, str]:
    """Create or reopen the study, let annotators in, and return everyone's token by name."""
    from emoscope.corpus.annotation.workers import read_gold
    from emoscope.server.annotate.studies import add_annotators, create_study, links
    from emoscope.server.store.signing_key import load_key

    with closing(open_store(folder)) as store:
        try:
            create_study(store, rules, items, {} if gold is None else read_gold(gold))
        except EmoscopeError as error:
            raise InputError(gold, str(error)) if gold and "gold question" in str(error) else error from None
        add_annotators(store, names)
        return links(store, load_key(folder))


def open_store(folder: Path) -> "Store":
    """The store of a study, whose database is always in its folder."""
    from emoscope.server.store import Store

    return Store.open(folder, _database_url(folder))


def _database_url(folder: Path) -> str:
    from emoscope.server.store.store import DATABASE_FILE

    return f"sqlite:///{folder / DATABASE_FILE}"


def annotate_revoke(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The study's folder.")],
    name: Annotated[str, typer.Argument(metavar="NAME", help="The annotator.")],
    new_link: Annotated[
        bool, typer.Option("--new-link", help="Give them another link, such as when theirs went to somebody else.")
    ] = False,
    public_url: Annotated[str, typer.Option(help="The address people use.")] = "http://127.0.0.1:8000",
) -> None:
    """Make an annotator's link worthless; what they said is kept. The page may be in use."""
    check_installed(*_PACKAGES, extra="server")
    from emoscope.server.annotate.studies import links, renew_link, revoke_annotator
    from emoscope.server.store.names import name_key
    from emoscope.server.store.signing_key import load_key

    with closing(_existing_store(folder)) as store:
        (renew_link if new_link else revoke_annotator)(store, name)
        tokens = {name_key(one): token for one, token in links(store, load_key(folder)).items()}
    if new_link:
        typer.echo(f"{name}: {public_url.rstrip('/')}/annotate#{tokens[name_key(name)]}")
    else:
        typer.echo(f"{name}: revoked; to let them in again: emoscope corpus annotate-revoke {folder} {name} --new-link")


def _existing_store(folder: Path) -> "Store":
    from emoscope.server.store.store import DATABASE_FILE

    if not (folder / DATABASE_FILE).is_file():
        raise InputError(folder, "holds no study; `emoscope corpus annotate` makes one")
    return open_store(folder)


def annotate_export(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The study's folder.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv, .json (Label Studio) or .jsonl (doccano) file.")
    ] = None,
    per_annotator: Annotated[
        str | None, typer.Option(help="Write a file for each annotator instead: .csv, .json or .jsonl.")
    ] = None,
    with_refused: Annotated[
        bool, typer.Option("--with-refused", help="Write what refused workers said as well.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write what annotators said as annotation files, and show how far everyone is. The page may be in use.

    Answers to gold questions are written too: `corpus aggregate --gold` leaves them out of the labels.
    """
    check_installed(*_PACKAGES, extra="server")
    from emoscope.corpus.annotation.files import write_annotations, write_per_worker
    from emoscope.server.annotate.studies import study_results

    if per_annotator is not None and output is None:
        raise EmoscopeError("--per-annotator: name the folder for the files with --output")
    with closing(_existing_store(folder)) as store:
        results = study_results(store, refused=with_refused)
    if output is not None and per_annotator is not None:
        write_per_worker(output, results.annotations, per_annotator)
    elif output is not None:
        write_annotations(output, results.annotations)
    judges = results.assignment.judges().values()
    finished = sum(have >= wanted for have, wanted in judges)
    standings = {name: results.assignment.standing(name) for name in results.annotators}
    written = len(results.annotations.judgements)
    rows = [
        [escape(name), one.judged, one.skipped, one.left, f"{one.gold_right} of {one.gold_answers}", refused]
        for name, one in standings.items()
        for refused in ["refused" if one.refused else ""]
    ]
    title = f"{finished:,} of {len(judges):,} items have all their judges"
    parts: list[RenderableType] = [table(title, ["annotator", "judged", "skipped", "left", "gold right", ""], rows)]
    if output is not None:
        parts.append(plain(f"wrote {written:,} judgements to {output}"))
    value = {
        "output": output,
        "items": len(judges),
        "finished": finished,
        "items_by_judges": dict(sorted(Counter(have for have, _ in judges).items())),
        "judgements": written,
        "annotators": standings,
    }
    show(value, parts, as_json=as_json)
