"""Challenges: their phases, boards, files for participants, texts and surveys."""

import json
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from emoscope.cli.challenge.command import SlugArgument, command, group, listed, view_table
from emoscope.cli.output import table
from emoscope.cli.result import CommandResult, plain
from emoscope.core.counts import counted
from emoscope.core.errors import EmoscopeError
from emoscope.core.files import whole_text, write_file
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC

if TYPE_CHECKING:
    from emoscope.server.challenge.views import BoardView, ChallengeView, Entry, FileView, SurveyTable
    from emoscope.server.store import Store


class Moment(StrEnum):
    """A time of a phase."""

    OPENS = "opens"
    CLOSES = "closes"
    LABELS = "labels"


PhaseArgument = Annotated[str, typer.Argument(metavar="PHASE", help="The phase's name.")]


@group.command("template")
def template_cli(
    name: Annotated[str | None, typer.Argument(help="A template; without a name, all are listed.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write it to this file instead of printing it.")
    ] = None,
) -> CommandResult:
    """Print a challenge template to edit and create a challenge from."""
    from emoscope.core.extras import check_installed

    check_installed("sqlalchemy", extra="server")
    ready = services.definition
    text = "\n".join(ready.ready_challenges()) + "\n" if name is None else ready.ready_challenge(name)
    if output is not None:
        if output.exists():
            raise EmoscopeError(f"{output}: exists already, and may have been edited; write to another file")
        write_file(output, text)
    value = {"challenges": list(ready.ready_challenges())} if name is None else {"output": output, "text": text}
    if output is None:
        return CommandResult(value, partial(typer.echo, text, nl=False))
    if name is None:
        return CommandResult(value, f"{output} lists the templates")
    return CommandResult(value, f"{output} written; edit it, then: emoscope challenge create {output}")


@command("create")
def create_cli(
    store: "Store",
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The challenge's definition.")],
    files: Annotated[
        Path | None, typer.Option("--files", help="Folder with the files it names; FILE's folder by default.")
    ] = None,
) -> CommandResult:
    """Create a challenge. Its files are checked and copied; the originals are no longer needed."""
    return _shown(services.challenges.create_challenge(store, OPERATOR, file, files))


@command("list")
def list_cli(store: "Store") -> CommandResult:
    """List all challenges and their phases."""
    challenges = services.challenges.list_challenges(store, OPERATOR)
    if not challenges:
        return CommandResult([], "There are no challenges yet; create one with `emoscope challenge create FILE.toml`.")
    return CommandResult([one.as_dict() for one in challenges], [Group(*map(_phases, challenges))])


def _shown(challenge: "ChallengeView") -> CommandResult:
    return CommandResult(challenge.as_dict(), [_phases(challenge)])


def _phases(challenge: "ChallengeView") -> Table:
    deleted = ", deleted" if challenge.deleted else ""
    return view_table(
        challenge.phases,
        {
            **{"phase": "name", "state": "state", "opens": "opens", "closes": "closes", "time zone": "time_zone"},
            "labels": lambda phase: phase.labels_at or phase.labels,
            "board": lambda phase: f"{phase.board}, {phase.counts}",
            **{"per day": "per_day", "total": "total", "items": "items"},
        },
        title=f"{challenge.slug} ({challenge.task}, {counted(challenge.teams, 'team')}{deleted})",
        left=7,
    )


@command("open")
def open_cli(store: "Store", slug: SlugArgument, phase: PhaseArgument) -> CommandResult:
    """Open a phase now."""
    return _shown(services.challenges.open_phase(store, OPERATOR, slug, phase))


@command("close")
def close_cli(store: "Store", slug: SlugArgument, phase: PhaseArgument) -> CommandResult:
    """Close a phase now; a hidden leaderboard becomes visible."""
    return _shown(services.challenges.close_phase(store, OPERATOR, slug, phase))


@command("schedule")
def schedule_cli(
    store: "Store",
    slug: SlugArgument,
    phase: PhaseArgument,
    opens: Annotated[datetime | None, typer.Option("--opens", help="In the phase's time zone.")] = None,
    closes: Annotated[datetime | None, typer.Option("--closes", help="In the phase's time zone.")] = None,
    labels: Annotated[
        datetime | None,
        typer.Option("--labels", help="Teams get the labels; submissions from then on are not ranked."),
    ] = None,
    clear: Annotated[
        list[Moment] | None,
        typer.Option(
            "--clear", help="Remove a time; the phase is then opened or closed by command, labels come as defined."
        ),
    ] = None,
) -> CommandResult:
    """Change when a phase opens, closes or releases its labels, for example to extend a deadline."""
    times = {"opens": opens, "closes": closes, "labels": labels}
    return _shown(services.challenges.reschedule(store, OPERATOR, slug, phase, **times, clear=clear or ()))


@command("change")
def change_cli(
    store: "Store",
    slug: SlugArgument,
    title: Annotated[str | None, typer.Option("--title")] = None,
    description: Annotated[Path | None, typer.Option("--description", help="A file with the new text.")] = None,
    registration: Annotated[
        str | None, typer.Option("--registration", help="open, email, approval, invitation or closed.")
    ] = None,
    max_teams: Annotated[int | None, typer.Option("--max-teams")] = None,
) -> CommandResult:
    """Change a challenge's title, description, registration or maximum number of teams."""
    changes = {"title": title, "registration": registration, "max_teams": max_teams}
    changes["description"] = None if description is None else whole_text(description, max_bytes=1 << 20)
    return _shown(services.challenges.change_challenge(store, OPERATOR, slug, changes))


@command("gold")
def gold_cli(
    store: "Store",
    slug: SlugArgument,
    phase: PhaseArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new gold file.")],
    rescoring: Annotated[
        bool, typer.Option("--rescore/--no-rescore", help="Rescore all submissions, or leave their scores stale.")
    ] = True,
) -> CommandResult:
    """Replace a phase's gold labels and rescore its submissions; a server or worker does the scoring."""
    done = services.challenges.replace_gold(store, OPERATOR, slug, phase, file, rescoring=rescoring)
    then = f"{counted(done.queued, 'submission')} queued" if rescoring else f"run: emoscope challenge rescore {slug}"
    value = {"challenge": slug, "phase": phase, "gold": file, "queued": done.queued if rescoring else 0}
    return CommandResult(value, f"{slug}/{phase}: gold replaced; {then}")


@command("rescore")
def rescore_cli(
    store: "Store",
    slug: SlugArgument,
    phase: Annotated[str | None, typer.Argument(metavar="PHASE", help="Only this phase.")] = None,
) -> CommandResult:
    """Queue every submission whose score is missing, failed or stale; a server or worker does the scoring."""
    queued = services.challenges.rescore(store, OPERATOR, slug, phase)
    value = {"challenge": slug, "phase": phase, "queued": queued}
    return CommandResult(value, f"{slug}: {counted(queued, 'submission')} queued")


@command("board")
def board_cli(
    store: "Store",
    slug: SlugArgument,
    phase: PhaseArgument,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw a chart: PNG, SVG, HTML or JSON.")] = None,
    final: Annotated[bool, typer.Option("--final", help="The final ranking if the phase closed now.")] = False,
) -> CommandResult:
    """Show a phase's leaderboard; with --final, as participants will see it when the phase closes."""
    from emoscope.server.challenge.board.leaderboard import leaderboard

    board = leaderboard(store, OPERATOR, slug, phase, final=final)
    if plot is not None:
        from emoscope.core.plots import save
        from emoscope.server.challenge.board.chart import board_chart

        save(board_chart(board), plot)
    return CommandResult(board.as_dict(), [Group(*_board_parts(board, slug))])


def _board_parts(board: "BoardView", slug: str) -> Iterator[RenderableType]:
    yield view_table(
        board.entries,
        {
            "rank": "rank",
            "name": lambda entry: entry.name if entry.kind == "team" else f"{entry.name} [{entry.kind}]",
            "state": lambda entry: "stale" if entry.stale else entry.state or entry.note,
            board.metric: lambda entry: entry.score if entry.score is None else f"{entry.score:.{board.digits}f}",
            **{name: partial(_further, name) for name in board.further_metrics},
            **{"low": "low", "high": "high", "cluster": "cluster", "first that differs": "first_different"},
            **{"previous rank": "former_rank", "submissions": "submissions"},
        },
        title=board.title,
        left=3,
    )
    if board.winners:
        figures = {"F1": "f1", "mean F1": "mean_f1", "best class for": "best_for", "worst class for": "worst_for"}
        yield view_table(board.winners, {"class": "label", "best team": "team", **figures}, left=2)
    if statistics := board.statistics:
        values = statistics.model_dump(exclude={"teams"}).items()
        shown = (f"{name.replace('_', ' ')} {value:.4f}" for name, value in values)
        yield f"{counted(statistics.teams, 'team')}: {', '.join(shown)}"
    yield from map(Text, [*board.notes, *_comparison_notes(board, slug)])


def _further(metric: str, entry: "Entry") -> str | None:
    return None if metric not in entry.further else f"{entry.further[metric]:.4f}"


def _comparison_notes(board: "BoardView", slug: str) -> list[str]:
    if board.comparison_failed:
        return [f"the significance comparison failed; to see why: emoscope challenge jobs {slug}"]
    return [] if board.clusters_ready else ["the significance comparison is running"]


@command("submissions")
def submissions_cli(
    store: "Store",
    slug: SlugArgument,
    phase: Annotated[str | None, typer.Option("--phase", help="Only this phase.")] = None,
) -> CommandResult:
    """List all submissions, including deleted ones, newest first."""
    return listed(
        services.submissions.list_submissions(store, OPERATOR, slug, phase=phase, deleted=True),
        {
            **{"id": "id", "phase": "phase", "team": "team", "received": "received"},
            "state": lambda one: "deleted" if one.deleted else "stale" if one.stale else one.state,
            "score": lambda one: one.figures and one.figures.score,
        },
        left=5,
    )


@command("export")
def export_cli(
    store: "Store",
    slug: SlugArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .json file, or .csv for one phase's leaderboard.")],
    phase: Annotated[str | None, typer.Option("--phase", help="Export only this phase's leaderboard.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Only what is public: no submissions, no hidden leaderboard.")
    ] = False,
) -> CommandResult:
    """Export a challenge with its leaderboards, teams and submissions, or one leaderboard; never gold labels."""
    from emoscope.server.challenge.board.export import board_text, export_challenge
    from emoscope.server.challenge.board.leaderboard import leaderboard

    kind = output.suffix.lower()
    if kind not in {".json", ".csv"} or (kind == ".csv" and phase is None):
        raise EmoscopeError(f"{output}: expected a .json file, or a .csv file together with --phase")
    actor = PUBLIC if public else OPERATOR
    if phase is None:
        text = json.dumps(export_challenge(store, actor, slug), indent=2, ensure_ascii=False) + "\n"
    else:
        text = board_text(leaderboard(store, actor, slug, phase), "csv" if kind == ".csv" else "json")
    write_file(output, text)
    return CommandResult({"challenge": slug, "phase": phase, "output": output}, f"{output}: written")


@command("delete")
def delete_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """Delete a challenge: only organisers can see it. `restore` undoes this."""
    services.challenges.delete_challenge(store, OPERATOR, slug)
    text = f"{slug}: deleted; to undo: emoscope challenge restore {slug}"
    return CommandResult({"challenge": slug, "state": "deleted"}, text)


@command("restore")
def restore_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """Restore a deleted challenge."""
    services.challenges.restore_challenge(store, OPERATOR, slug)
    return CommandResult({"challenge": slug, "state": "restored"}, f"{slug}: restored")


@command("files")
def files_cli(store: "Store", slug: SlugArgument) -> CommandResult:
    """List the files for participants, other than those of the phases."""
    return _listed_files(services.handouts.list_files(store, OPERATOR, slug))


def _listed_files(files: "list[FileView]") -> CommandResult:
    return listed(
        files,
        {
            **{"file": "name", "title": "title", "from phase": lambda file: file.phase or ""},
            **{"available": lambda file: "yes" if file.given_out else "not yet", "bytes": "size"},
        },
        left=4,
    )


@command("add-file")
def add_file_cli(
    store: "Store",
    slug: SlugArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file, such as training data.")],
    title: Annotated[str, typer.Option("--title", help="What it is, in a few words.")] = "",
    phase: Annotated[str | None, typer.Option("--phase", help="Make it available when this phase opens.")] = None,
) -> CommandResult:
    """Make a file available to participants; one with the same name is replaced."""
    if not file.is_file():
        raise EmoscopeError(f"{file}: no such file")
    services.handouts.add_file(store, OPERATOR, slug, file, title=title, phase=phase)
    return _listed_files(services.handouts.list_files(store, OPERATOR, slug))


@command("remove-file")
def remove_file_cli(
    store: "Store", slug: SlugArgument, name: Annotated[str, typer.Argument(metavar="NAME", help="The file's name.")]
) -> CommandResult:
    """Stop offering a file."""
    services.handouts.remove_file(store, OPERATOR, slug, name)
    value = {"challenge": slug, "file": name, "state": "removed"}
    return CommandResult(value, f"{slug}: {name} is no longer available")


@command("texts")
def texts_cli(
    store: "Store",
    slug: SlugArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The challenge's definition, edited.")],
) -> CommandResult:
    """Update title, texts, survey and `report` from the edited definition; nothing else changes."""
    services.challenges.rewrite(store, OPERATOR, slug, file)
    return CommandResult({"challenge": slug, "file": file}, f"{slug}: texts and survey updated from {file}")


@command("survey")
def survey_cli(
    store: "Store",
    slug: SlugArgument,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the answers to all questions to this CSV file.")
    ] = None,
) -> CommandResult:
    """Show what teams say about their systems, a table for each question."""
    from emoscope.server.challenge.board.techniques import techniques, techniques_text

    tables = techniques(store, OPERATOR, slug)
    if output is not None:
        write_file(output, techniques_text(tables))
        return CommandResult({"challenge": slug, "output": output}, f"{output}: written")
    value = [one.as_dict() for one in tables]
    if not any(one.rows for one in tables):
        return CommandResult(value, f"{slug}: no team has described its system yet")
    return CommandResult(value, [Group(*map(_answers, tables))])


def _answers(question: "SurveyTable") -> RenderableType:
    used = [at for at, count in enumerate(question.counts) if count]
    if not used:
        return plain(f"{question.title}: no answers")
    rows = [[row.rank, escape(row.team), *("x" if row.marks[at] else "" for at in used)] for row in question.rows]
    rows.append(["", "teams", *(question.counts[at] for at in used)])
    return table(question.title, ["rank", "team", *(escape(question.columns[at]) for at in used)], rows, left=2)
