"""`emoscope corpus annotate`, `annotate-export`, `annotate-import` and `annotate-revoke`: a study on a web page."""

import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.markup import escape

from emoscope.cli.corpus.options import (
    FilesArgument,
    GoldAnswersOption,
    GoldOption,
    MinGoldOption,
    StudyArgument,
    check_goes_with,
)
from emoscope.cli.options import SeedOption, check_port
from emoscope.cli.output import JsonOption, table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import check_installed
from emoscope.core.files import existing_file
from emoscope.corpus.annotation.files import read_annotations, write_annotations, write_per_worker
from emoscope.corpus.annotation.formats import FORMATS
from emoscope.corpus.annotation.items import Item, in_round, read_study
from emoscope.corpus.annotation.people import AnnotatorProfile, read_people
from emoscope.corpus.annotation.rounds import PASS_MARK, RoundName
from emoscope.corpus.annotation.workers import SCREENING_RULES, read_gold, read_round

if TYPE_CHECKING:
    from emoscope.server.annotate.notes import Briefing
    from emoscope.server.annotate.rules import StudyRules
    from emoscope.server.store import Store

_PACKAGES = ("fastapi", "uvicorn", "sqlalchemy", "alembic", "jinja2")


def annotate(
    tasks: Annotated[
        Path,
        typer.Argument(
            metavar="TASKS",
            help="Dialogues: CSV, TSV, JSONL, Parquet, lines, Label Studio or EmotionX JSON, official files (--task).",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the study, new or existing.")],
    annotators: Annotated[
        list[str] | None, typer.Option("--annotator", "-a", help="Name of an annotator, who gets a link; repeatable.")
    ] = None,
    judges: Annotated[int, typer.Option(min=1, help="Judgements per item; usually 7, 5 or 3.")] = 7,
    overlap: Annotated[
        float, typer.Option(min=0, max=1, help="Share of items that get all judgements; the others get one.")
    ] = 1.0,
    labels: Annotated[
        str | None,
        typer.Option(help="Comma-separated labels.  \\[default: happy,sad,angry,others, or those of --task]"),
    ] = None,
    task: Annotated[str | None, typer.Option("--task", "-t", help="TASKS is an official file of this task.")] = None,
    gold: GoldOption = None,
    gold_share: Annotated[
        float, typer.Option(help="Share of a worker's questions that are gold, after 3 early ones.")
    ] = SCREENING_RULES.share,
    min_gold: MinGoldOption = SCREENING_RULES.least_right,
    min_gold_answers: GoldAnswersOption = None,
    whole_dialogues: Annotated[
        bool, typer.Option("--whole-dialogues", help="Ask for the label of every turn, as EmotionX did.")
    ] = False,
    other_labels: Annotated[
        bool, typer.Option("--other-labels", help="Ask for other possible labels too, as IEST's human study did.")
    ] = False,
    guidelines: Annotated[
        Path | None, typer.Option(help="Markdown that everyone reads before they begin; see also the managers' desk.")
    ] = None,
    consent: Annotated[Path | None, typer.Option(help="Markdown that everyone must agree to.")] = None,
    training: Annotated[
        Path | None,
        typer.Option(help="First items, explained at once: a CSV with task,label and optionally why."),
    ] = None,
    qualification: Annotated[
        Path | None, typer.Option(help="Items that decide who may go on, after the training: a CSV with task,label.")
    ] = None,
    pass_mark: Annotated[
        float, typer.Option(min=0, max=1, help="Share right in the qualification, or else the training, to go on.")
    ] = PASS_MARK,
    people: Annotated[
        Path | None, typer.Option(help="Annotators: a CSV with name and optionally country, approval_rate, tasks.")
    ] = None,
    require: Annotated[
        list[str] | None,
        typer.Option(help="What annotators must meet: country=US,GB, approval_rate>=0.95 or tasks>=1000; repeatable."),
    ] = None,
    suggest: Annotated[
        str | None, typer.Option(help="Show the label that this model gives (default, or a folder); kept in the log.")
    ] = None,
    seed: SeedOption = 1,
    serve: Annotated[bool, typer.Option(help="Serve the page, or only set the study up.")] = True,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", "-p", min=1, max=65535, help="Port to listen on.")] = 8000,
    public_url: Annotated[str | None, typer.Option(help="The address people use, e.g. behind a proxy.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Serve a page on which people label dialogues: blind, one at a time, by keyboard or phone.

    Prints a link for each annotator and one for managers, then serves the page until stopped. The same command reopens
    the study.
    """
    check_installed(*_PACKAGES, extra="server")
    if gold is None:
        own_share, own_least = gold_share != SCREENING_RULES.share, min_gold != SCREENING_RULES.least_right
        own_answers = min_gold_answers is not None
        options = {"--gold-share": own_share, "--min-gold": own_least, "--min-gold-answers": own_answers}
        check_goes_with("--gold", options)
    if training is None and qualification is None:
        check_goes_with("--training or --qualification", {"--pass-mark": pass_mark != PASS_MARK})
    if serve:
        check_port(host, port)
    from emoscope.server.annotate.notes import Briefing
    from emoscope.server.annotate.rules import StudyRules

    items, offered = read_study(tasks, task, labels, whole=whole_dialogues)
    items, answers = _with_rounds(items, training, qualification)
    if suggest is not None:
        from emoscope.corpus.annotation.suggestions import suggest as with_suggestions

        items = with_suggestions(items, suggest, offered)
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
        pass_mark=pass_mark,
        require=tuple(require or ()),
        suggestions=suggest,
    )
    invited = [*map(AnnotatorProfile, annotators or ()), *(() if people is None else read_people(people))]
    briefing = Briefing(_text(guidelines), _text(consent))
    address = (public_url or f"http://{'127.0.0.1' if host in ('0.0.0.0', '::') else host}:{port}").rstrip("/")
    is_new = not output.exists()
    try:
        tokens, manager = set_up(output, rules, items, gold, invited, answers, briefing)
    except EmoscopeError:
        if is_new:  # half a study would be in the way of the corrected command
            shutil.rmtree(output, ignore_errors=True)
        raise
    links = {name: f"{address}/annotate#{token}" for name, token in tokens.items()}
    desk = f"{address}/annotate/desk#{manager}"
    summary = f"{counted(len(items), 'item')}, {counted(rules.judges, 'judge')} each; the study is in {output}"
    listed = [f"{name}: {link}" for name, link in links.items()] or [
        "no annotators yet: add them with --annotator NAME"
    ]
    value = {"folder": output, "items": len(items), "rules": rules.model_dump(), "desk": desk, "links": links}
    CommandResult(value, "\n".join([summary, *listed, f"managers' desk: {desk}"])).print(as_json=as_json)
    if serve:
        import uvicorn

        from emoscope.server.annotate.app import create_annotation_app
        from emoscope.server.http.logs import log_config
        from emoscope.server.http.protocol import GuardedProtocol
        from emoscope.server.settings import Settings

        settings = Settings(data_dir=output, database_url=_database_url(output), public_url=public_url)
        guarded: dict[str, Any] = {"http": GuardedProtocol, "log_config": log_config(settings.log_format)}
        app = create_annotation_app(settings)
        uvicorn.run(app, host=host, port=port, access_log=False, server_header=False, **guarded)


def set_up(
    folder: Path,
    rules: "StudyRules",
    items: Sequence[Item],
    gold: Path | None,
    people: Sequence[AnnotatorProfile],
    rounds: Mapping[str, str],
    briefing: "Briefing",
) -> tuple[dict[str, str], str]:
    """Create or reopen the study and add annotators; returns their tokens by name, and the managers' token."""
    from emoscope.server.annotate.links import manager_token
    from emoscope.server.annotate.notes import manager_link, set_briefing
    from emoscope.server.annotate.studies import add_annotators, create_study, links
    from emoscope.server.store.signing_key import load_key

    with closing(open_store(folder)) as store:
        try:
            create_study(store, rules, items, {} if gold is None else read_gold(gold), rounds)
        except EmoscopeError as error:
            raise InputError(gold, str(error)) if gold and "gold question" in str(error) else error from None
        add_annotators(store, people)
        if briefing.version:
            set_briefing(store, briefing, again=False)
        with store.database.read() as session:
            number = manager_link(session)
        return links(store, load_key(folder)), manager_token(load_key(folder), number)


def _with_rounds(
    items: list[Item], training: Path | None, qualification: Path | None
) -> tuple[list[Item], dict[str, str]]:
    """The items with those of the rounds first, and the right answers of these."""
    answers: dict[str, str] = {}
    given: list[tuple[RoundName, Path | None]] = [("qualification", qualification), ("training", training)]
    for name, path in given:
        if path is not None:
            read = read_round(path)
            try:
                items = in_round(items, name, read)
            except EmoscopeError as error:
                raise InputError(path, str(error)) from None
            answers |= {task: label for task, (label, _) in read.items()}
    return items, answers


def _text(path: Path | None) -> str:
    return "" if path is None else existing_file(path).read_text(encoding="utf-8-sig").strip()


def open_store(folder: Path) -> "Store":
    """The store of a study, whose database is always in its folder."""
    from emoscope.server.store import Store

    return Store.open(folder, _database_url(folder))


def _database_url(folder: Path) -> str:
    from emoscope.server.store.store import DATABASE_FILE

    return f"sqlite:///{folder / DATABASE_FILE}"


def annotate_revoke(
    folder: StudyArgument,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="The annotator.")] = None,
    manager: Annotated[
        bool, typer.Option("--manager", help="Revoke the managers' link instead, and print a new one.")
    ] = False,
    new_link: Annotated[
        bool, typer.Option("--new-link", help="Replace the link, for example if somebody else got it.")
    ] = False,
    public_url: Annotated[str, typer.Option(help="The address people use.")] = "http://127.0.0.1:8000",
) -> CommandResult:
    """Revoke an annotator's link; their judgements are kept. The page may be in use."""
    check_installed(*_PACKAGES, extra="server")
    from emoscope.server.annotate.links import manager_token
    from emoscope.server.annotate.notes import manager_link, renew_manager_link
    from emoscope.server.annotate.studies import links, renew_link, revoke_annotator
    from emoscope.server.store.names import name_key
    from emoscope.server.store.signing_key import load_key

    if (name is None) != manager:
        raise EmoscopeError("name an annotator, or give --manager")
    if name is None:
        with closing(_existing_store(folder)) as store:
            renew_manager_link(store)
            with store.database.read() as session:
                token = manager_token(load_key(folder), manager_link(session))
        desk = f"{public_url.rstrip('/')}/annotate/desk#{token}"
        return CommandResult({"desk": desk}, f"managers' desk: {desk}")
    with closing(_existing_store(folder)) as store:
        (renew_link if new_link else revoke_annotator)(store, name)
        tokens = {name_key(one): token for one, token in links(store, load_key(folder)).items()}
    link = f"{public_url.rstrip('/')}/annotate#{tokens[name_key(name)]}" if new_link else None
    again = f"revoked; to let them in again: emoscope corpus annotate-revoke {folder} {name} --new-link"
    return CommandResult({"annotator": name, "link": link}, f"{name}: {link or again}")


def _existing_store(folder: Path) -> "Store":
    from emoscope.server.store.store import DATABASE_FILE

    if not (folder / DATABASE_FILE).is_file():
        raise InputError(folder, "holds no study; `emoscope corpus annotate` creates one")
    return open_store(folder)


def annotate_export(
    folder: StudyArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv, .json (Label Studio) or .jsonl (doccano) file.")
    ] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, label-studio, doccano or prodigy, whatever the file's name.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Write the final labels as CSV: adjudicated, or that of most judges.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option(help="Write everything annotators did as CSV, with what a model suggested.")
    ] = None,
    per_annotator: Annotated[
        str | None, typer.Option(help="Write a file for each annotator instead: .csv, .json or .jsonl.")
    ] = None,
    with_refused: Annotated[
        bool, typer.Option("--with-refused", help="Write what refused workers said as well.")
    ] = False,
) -> CommandResult:
    """Write what annotators said as annotation files, and show how far everyone is. The page may be in use.

    Answers to gold questions are written too: `corpus aggregate --gold` leaves them out of the labels.
    """
    check_installed(*_PACKAGES, extra="server")
    from emoscope.server.annotate.desk import Desk
    from emoscope.server.annotate.exchange import final_labels, write_final_labels, write_log
    from emoscope.server.annotate.overview import Overviews
    from emoscope.server.annotate.studies import study_results
    from emoscope.server.store.signing_key import load_key

    if per_annotator is not None and output is None:
        raise EmoscopeError("--per-annotator: name the folder for the files with --output")
    if per_annotator not in (None, *FORMATS):
        raise EmoscopeError(f"--per-annotator: expected .csv, .json or .jsonl, found {per_annotator!r}")
    targets = [path.resolve() for path in (output, labels, log) if path is not None]
    if len(set(targets)) < len(targets):
        raise EmoscopeError("--output, --labels and --log: give each a file of its own")
    with closing(_existing_store(folder)) as store:
        results = study_results(store, refused=with_refused)
        tied = None
        if labels is not None:
            tied = write_final_labels(labels, final_labels(Overviews(Desk(store, load_key(folder))).now()))
        if log is not None:
            write_log(log, store)
    if output is not None and per_annotator is not None:
        write_per_worker(output, results.annotations, per_annotator)
    elif output is not None:
        write_annotations(output, results.annotations, file_format)
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
    if labels is not None:
        left = f"; {tied:,} tied ones wait to be adjudicated" if tied else ""
        parts.append(plain(f"wrote the final labels to {labels}{left}"))
    value = {
        "output": output,
        "items": len(judges),
        "finished": finished,
        "items_by_judges": dict(sorted(Counter(have for have, _ in judges).items())),
        "judgements": written,
        "labels": labels,
        "tied": tied,
        "annotators": standings,
    }
    return CommandResult(value, parts)


def annotate_import(
    folder: StudyArgument,
    files: FilesArgument,
) -> CommandResult:
    """Import judgements of a study's items from other tools, such as Label Studio, doccano or Prodigy.

    The page may be in use. Existing judgements stay as they are; importing a file again changes nothing.
    """
    check_installed(*_PACKAGES, extra="server")
    from emoscope.server.annotate.exchange import import_judgements

    with closing(_existing_store(folder)) as store:
        imported = import_judgements(store, read_annotations(files))
    lines = [f"{counted(imported.judged, 'judgement')} imported, {counted(imported.annotators, 'new annotator')}"]
    for count, one, more in (
        (imported.there_already, "already existed", "already existed"),
        (imported.foreign, "is for a task outside this study", "are for tasks outside this study"),
        (imported.incomplete, "dialogue is only partly labelled", "dialogues are only partly labelled"),
    ):
        lines += [f"{count:,} {one if count == 1 else more}, left out"] if count else []
    return CommandResult(imported, "\n".join(lines))
