"""`emoscope challenge`: create a shared task, open and close its phases, rescore, look at boards and export them."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.challenge import admin as challenge_admin
from emoscope.cli.challenge.options import DatabaseOption, DataDirOption, SlugArgument, opened
from emoscope.cli.output import JsonOption, console, print_json, table
from emoscope.core.errors import EmoscopeError

if TYPE_CHECKING:
    from emoscope.server.challenge.views import BoardView, ChallengeView

PhaseArgument = Annotated[str, typer.Argument(metavar="PHASE", help="The phase's name.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this group."""
    group = typer.Typer(no_args_is_help=True, help="Run a shared task.")
    group.command("template")(template_cli)
    group.command("create")(create_cli)
    group.command("list")(list_cli)
    group.command("open")(open_cli)
    group.command("close")(close_cli)
    group.command("schedule")(schedule_cli)
    group.command("gold")(gold_cli)
    group.command("rescore")(rescore_cli)
    group.command("board")(board_cli)
    group.command("submissions")(submissions_cli)
    group.command("export")(export_cli)
    group.command("delete")(delete_cli)
    group.command("restore")(restore_cli)
    challenge_admin.register(group)
    app.add_typer(group, name="challenge")


def template_cli(
    name: Annotated[str | None, typer.Argument(help="A ready challenge; without one they are listed.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it here instead of printing it.")] = None,
) -> None:
    """Print the file of a ready challenge, to be edited and created."""
    from emoscope.core.files import atomic_write
    from emoscope.server.challenge.services.definition import ready_challenge, ready_challenges

    text = "\n".join(ready_challenges()) + "\n" if name is None else ready_challenge(name)
    if output is None:
        typer.echo(text, nl=False)
        return
    with atomic_write(output) as handle:
        handle.write(text)


def create_cli(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The challenge's definition.")],
    files: Annotated[
        Path | None, typer.Option("--files", help="Folder of the files it names; without it those beside FILE.")
    ] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create a challenge. Its files are checked and copied; the originals are not needed any more."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import create_challenge

        _show(create_challenge(store, OPERATOR, file, files), as_json=as_json)


def list_cli(data_dir: DataDirOption = None, database: DatabaseOption = None, as_json: JsonOption = False) -> None:
    """List all challenges and their phases."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import list_challenges

        found = list_challenges(store, OPERATOR)
    if as_json:
        print_json([challenge.as_dict() for challenge in found])
    elif not found:
        typer.echo("There are no challenges; `emoscope challenge create FILE.toml` makes one.")
    else:
        for challenge in found:
            _show(challenge, as_json=False)


def _show(challenge: "ChallengeView", *, as_json: bool) -> None:
    if as_json:
        print_json(challenge.as_dict())
        return
    deleted = ", deleted" if challenge.deleted else ""
    rows = [
        [
            phase.name,
            phase.state,
            phase.opens and phase.opens.isoformat(timespec="minutes"),
            phase.closes and phase.closes.isoformat(timespec="minutes"),
            phase.time_zone,
            f"{phase.board}, {phase.counts}",
            phase.per_day,
            phase.total,
            phase.items,
        ]
        for phase in challenge.phases
    ]
    title = f"{challenge.slug} ({challenge.task}, {challenge.teams} teams{deleted})"
    columns = ["phase", "state", "opens", "closes", "time zone", "board", "a day", "in all", "items"]
    console().print(table(title, columns, rows, left=6))


def open_cli(
    slug: SlugArgument, phase: PhaseArgument, data_dir: DataDirOption = None, database: DatabaseOption = None
) -> None:
    """Open a phase now."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import open_phase

        _show(open_phase(store, OPERATOR, slug, phase), as_json=False)


def close_cli(
    slug: SlugArgument, phase: PhaseArgument, data_dir: DataDirOption = None, database: DatabaseOption = None
) -> None:
    """Close a phase now; a hidden board shows from here on."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import close_phase

        _show(close_phase(store, OPERATOR, slug, phase), as_json=False)


def schedule_cli(
    slug: SlugArgument,
    phase: PhaseArgument,
    opens: Annotated[datetime | None, typer.Option("--opens", help="In the phase's time zone.")] = None,
    closes: Annotated[datetime | None, typer.Option("--closes", help="In the phase's time zone.")] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Change when a phase opens or closes, such as to extend a deadline."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import reschedule

        _show(reschedule(store, OPERATOR, slug, phase, opens=opens, closes=closes), as_json=False)


def gold_cli(
    slug: SlugArgument,
    phase: PhaseArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new gold file.")],
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Replace a phase's gold labels; its scores are stale until `rescore`."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import replace_gold

        replace_gold(store, OPERATOR, slug, phase, file)
    typer.echo(f"{slug}/{phase}: gold replaced; run: emoscope challenge rescore {slug}")


def rescore_cli(
    slug: SlugArgument,
    phase: Annotated[str | None, typer.Argument(metavar="[PHASE]", help="Only this phase.")] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Queue every submission whose score is missing, failed or stale; a server or worker does the work."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import rescore

        typer.echo(f"{slug}: {rescore(store, OPERATOR, slug, phase):,} submissions queued")


def board_cli(
    slug: SlugArgument,
    phase: PhaseArgument,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it: PNG, SVG, HTML or JSON.")] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a phase's board as its organisers see it."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.board.leaderboard import leaderboard
        from emoscope.server.challenge.services.actor import OPERATOR

        board = leaderboard(store, OPERATOR, slug, phase)
    if plot is not None:
        from emoscope.core.plots import save
        from emoscope.server.challenge.board.chart import board_chart

        save(board_chart(board), plot)
    if as_json:
        print_json(board.as_dict())
    else:
        _print_board(board)


def _print_board(board: "BoardView") -> None:
    rows = [
        [
            entry.rank,
            escape(entry.name if entry.kind == "team" else f"{entry.name} [{entry.kind}]"),
            "stale" if entry.stale else entry.state or entry.note,
            entry.score,
            entry.low,
            entry.high,
            entry.cluster,
            entry.first_different,
            entry.submissions,
        ]
        for entry in board.entries
    ]
    columns = ["rank", "name", "state", board.metric, "low", "high", "cluster", "B", "submissions"]
    screen = console()
    screen.print(table(board.title, columns, rows, left=3))
    for note in [*board.notes, *([] if board.clusters_ready else ["clusters are being computed"])]:
        screen.print(note, markup=False)


def submissions_cli(
    slug: SlugArgument,
    phase: Annotated[str | None, typer.Option("--phase", help="Only this phase.")] = None,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """List all submissions, deleted ones too, newest first."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.submissions import list_submissions

        found = list_submissions(store, OPERATOR, slug, phase=phase, deleted=True)
    if as_json:
        print_json([submission.as_dict() for submission in found])
        return
    rows = [
        [
            one.id,
            one.phase,
            escape(one.team),
            one.received.isoformat(timespec="seconds"),
            "deleted" if one.deleted else "stale" if one.stale else one.state,
            one.figures and one.figures.score,
        ]
        for one in found
    ]
    console().print(table(None, ["id", "phase", "team", "received", "state", "score"], rows, left=5))


def export_cli(
    slug: SlugArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .json file, or .csv for one phase's board.")],
    phase: Annotated[str | None, typer.Option("--phase", help="The board to export as CSV or JSON.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Only what anybody may see: no submissions, no hidden board.")
    ] = False,
    data_dir: DataDirOption = None,
    database: DatabaseOption = None,
) -> None:
    """Write a challenge with its boards, teams and submissions, or one board, to a file. Gold is never part of it."""
    import json

    from emoscope.core.files import atomic_write

    kind = output.suffix.lower()
    if kind not in {".json", ".csv"} or (kind == ".csv" and phase is None):
        raise EmoscopeError(f"{output}: expected a .json file, or a .csv file together with --phase")
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.board.export import board_csv, board_json, export_challenge
        from emoscope.server.challenge.board.leaderboard import leaderboard
        from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC

        actor = PUBLIC if public else OPERATOR
        if phase is None:
            text = json.dumps(export_challenge(store, actor, slug), indent=2, ensure_ascii=False) + "\n"
        else:
            board = leaderboard(store, actor, slug, phase)
            text = board_csv(board) if kind == ".csv" else board_json(board)
    with atomic_write(output) as handle:
        handle.write(text)


def delete_cli(slug: SlugArgument, data_dir: DataDirOption = None, database: DatabaseOption = None) -> None:
    """Hide a challenge; `restore` brings it back."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import delete_challenge

        delete_challenge(store, OPERATOR, slug)
    typer.echo(f"{slug}: deleted; to bring it back: emoscope challenge restore {slug}")


def restore_cli(slug: SlugArgument, data_dir: DataDirOption = None, database: DatabaseOption = None) -> None:
    """Bring a deleted challenge back."""
    with opened(data_dir, database) as store:
        from emoscope.server.challenge.services.actor import OPERATOR
        from emoscope.server.challenge.services.challenges import restore_challenge

        restore_challenge(store, OPERATOR, slug)
    typer.echo(f"{slug}: restored")
