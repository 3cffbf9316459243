"""Challenges, their phases and boards."""

import json
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from emoscope.cli.challenge.command import SlugArgument, command, group, print_views
from emoscope.cli.output import JsonOption, console, print_json
from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge import services
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC

if TYPE_CHECKING:
    from emoscope.server.challenge.views import BoardView, ChallengeView
    from emoscope.server.store import Store

PhaseArgument = Annotated[str, typer.Argument(metavar="PHASE", help="The phase's name.")]


@group.command("template")
def template_cli(
    name: Annotated[str | None, typer.Argument(help="A ready challenge; without one they are listed.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it here instead of printing it.")] = None,
) -> None:
    """Print the file of a ready challenge, to be edited and created."""
    from emoscope.core.files import atomic_write

    ready = services.definition
    text = "\n".join(ready.ready_challenges()) + "\n" if name is None else ready.ready_challenge(name)
    if output is None:
        typer.echo(text, nl=False)
        return
    with atomic_write(output) as handle:
        handle.write(text)


@command("create")
def create_cli(
    store: "Store",
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="The challenge's definition.")],
    files: Annotated[
        Path | None, typer.Option("--files", help="Folder of the files it names; without it those beside FILE.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a challenge. Its files are checked and copied; the originals are not needed any more."""
    _print_challenge(services.challenges.create_challenge(store, OPERATOR, file, files), as_json=as_json)


@command("list")
def list_cli(store: "Store", as_json: JsonOption = False) -> None:
    """List all challenges and their phases."""
    challenges = services.challenges.list_challenges(store, OPERATOR)
    if as_json:
        print_json([challenge.as_dict() for challenge in challenges])
    elif not challenges:
        typer.echo("There are no challenges; `emoscope challenge create FILE.toml` makes one.")
    else:
        for challenge in challenges:
            _print_challenge(challenge)


def _print_challenge(challenge: "ChallengeView", *, as_json: bool = False) -> None:
    if as_json:
        print_json(challenge.as_dict())
        return
    deleted = ", deleted" if challenge.deleted else ""
    print_views(
        challenge.phases,
        {
            "phase": lambda phase: phase.name,
            "state": lambda phase: phase.state,
            "opens": lambda phase: phase.opens and phase.opens.isoformat(timespec="minutes"),
            "closes": lambda phase: phase.closes and phase.closes.isoformat(timespec="minutes"),
            "time zone": lambda phase: phase.time_zone,
            "board": lambda phase: f"{phase.board}, {phase.counts}",
            "a day": lambda phase: phase.per_day,
            "in all": lambda phase: phase.total,
            "items": lambda phase: phase.items,
        },
        title=f"{challenge.slug} ({challenge.task}, {challenge.teams} teams{deleted})",
        left=6,
    )


@command("open")
def open_cli(store: "Store", slug: SlugArgument, phase: PhaseArgument) -> None:
    """Open a phase now."""
    _print_challenge(services.challenges.open_phase(store, OPERATOR, slug, phase))


@command("close")
def close_cli(store: "Store", slug: SlugArgument, phase: PhaseArgument) -> None:
    """Close a phase now; a hidden board shows from here on."""
    _print_challenge(services.challenges.close_phase(store, OPERATOR, slug, phase))


@command("schedule")
def schedule_cli(
    store: "Store",
    slug: SlugArgument,
    phase: PhaseArgument,
    opens: Annotated[datetime | None, typer.Option("--opens", help="In the phase's time zone.")] = None,
    closes: Annotated[datetime | None, typer.Option("--closes", help="In the phase's time zone.")] = None,
) -> None:
    """Change when a phase opens or closes, such as to extend a deadline."""
    _print_challenge(services.challenges.reschedule(store, OPERATOR, slug, phase, opens=opens, closes=closes))


@command("gold")
def gold_cli(
    store: "Store",
    slug: SlugArgument,
    phase: PhaseArgument,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The new gold file.")],
) -> None:
    """Replace a phase's gold labels; its scores are stale until `rescore`."""
    services.challenges.replace_gold(store, OPERATOR, slug, phase, file)
    typer.echo(f"{slug}/{phase}: gold replaced; run: emoscope challenge rescore {slug}")


@command("rescore")
def rescore_cli(
    store: "Store",
    slug: SlugArgument,
    phase: Annotated[str | None, typer.Argument(metavar="[PHASE]", help="Only this phase.")] = None,
) -> None:
    """Queue every submission whose score is missing, failed or stale; a server or worker does the work."""
    typer.echo(f"{slug}: {services.challenges.rescore(store, OPERATOR, slug, phase):,} submissions queued")


@command("board")
def board_cli(
    store: "Store",
    slug: SlugArgument,
    phase: PhaseArgument,
    plot: Annotated[Path | None, typer.Option("--plot", help="Also draw it: PNG, SVG, HTML or JSON.")] = None,
    final: Annotated[bool, typer.Option("--final", help="As if the phase closed now: exact, on what decides.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show a phase's board; with --final what participants see when the phase is closed."""
    from emoscope.server.challenge.board.leaderboard import leaderboard

    board = leaderboard(store, OPERATOR, slug, phase, final=final)
    if plot is not None:
        from emoscope.core.plots import save
        from emoscope.server.challenge.board.chart import board_chart

        save(board_chart(board), plot)
    if as_json:
        print_json(board.as_dict())
        return
    print_views(
        board.entries,
        {
            "rank": lambda entry: entry.rank,
            "name": lambda entry: escape(entry.name if entry.kind == "team" else f"{entry.name} [{entry.kind}]"),
            "state": lambda entry: "stale" if entry.stale else entry.state or entry.note,
            board.metric: lambda entry: entry.score,
            "low": lambda entry: entry.low,
            "high": lambda entry: entry.high,
            "cluster": lambda entry: entry.cluster,
            "B": lambda entry: entry.first_different,
            "submissions": lambda entry: entry.submissions,
        },
        title=board.title,
        left=3,
    )
    for note in [*board.notes, *_comparison_notes(board, slug)]:
        console().print(note, markup=False)


def _comparison_notes(board: "BoardView", slug: str) -> list[str]:
    if board.comparison_failed:
        return [f"clusters could not be computed; to see why: emoscope challenge jobs {slug}"]
    return [] if board.clusters_ready else ["clusters are being computed"]


@command("submissions")
def submissions_cli(
    store: "Store",
    slug: SlugArgument,
    phase: Annotated[str | None, typer.Option("--phase", help="Only this phase.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List all submissions, deleted ones too, newest first."""
    print_views(
        services.submissions.list_submissions(store, OPERATOR, slug, phase=phase, deleted=True),
        {
            "id": lambda one: one.id,
            "phase": lambda one: one.phase,
            "team": lambda one: escape(one.team),
            "received": lambda one: one.received.isoformat(timespec="seconds"),
            "state": lambda one: "deleted" if one.deleted else "stale" if one.stale else one.state,
            "score": lambda one: one.figures and one.figures.score,
        },
        as_json=as_json,
        left=5,
    )


@command("export")
def export_cli(
    store: "Store",
    slug: SlugArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="A .json file, or .csv for one phase's board.")],
    phase: Annotated[str | None, typer.Option("--phase", help="The board to export as CSV or JSON.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Only what anybody may see: no submissions, no hidden board.")
    ] = False,
) -> None:
    """Write a challenge with its boards, teams and submissions, or one board, to a file. Gold is never part of it."""
    from emoscope.core.files import atomic_write
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
    with atomic_write(output) as handle:
        handle.write(text)


@command("delete")
def delete_cli(store: "Store", slug: SlugArgument) -> None:
    """Hide a challenge; `restore` brings it back."""
    services.challenges.delete_challenge(store, OPERATOR, slug)
    typer.echo(f"{slug}: deleted; to bring it back: emoscope challenge restore {slug}")


@command("restore")
def restore_cli(store: "Store", slug: SlugArgument) -> None:
    """Bring a deleted challenge back."""
    services.challenges.restore_challenge(store, OPERATOR, slug)
    typer.echo(f"{slug}: restored")
