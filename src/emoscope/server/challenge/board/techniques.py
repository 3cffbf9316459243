"""Teams' answers to the survey as tables, like Table 4 of the EmoContext and Tables 6 to 8 of the IEST paper."""

import csv
import io
from collections import Counter

from sqlalchemy import select

from emoscope.server.challenge.board.leaderboard import leaderboard
from emoscope.server.challenge.services.actor import Actor
from emoscope.server.challenge.services.lookup import board_visible, phase_state, reading
from emoscope.server.challenge.services.survey import SurveyQuestion
from emoscope.server.challenge.views import SurveyRow, SurveyTable
from emoscope.server.errors import NotAllowed, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Report, Team
from emoscope.server.store.names import cell


def techniques(store: Store, actor: Actor, slug: str) -> list[SurveyTable]:
    """A table for each question: teams by rank in rows, answers by frequency in columns.

    Everyone sees them once all phases have closed, organisers at any time.
    """
    with reading(store, actor, slug) as (session, challenge):
        if not challenge.survey:
            raise NotFound(f"{slug} does not ask for a report")
        now = store.clock()
        over = all(phase_state(phase, now) == "closed" for phase in challenge.phases)
        if not over and not actor.organises(challenge.id):
            raise NotAllowed("teams' descriptions of their systems are shown when the last phase has closed")
        there = (Team.deleted_at, Team.merged_into, Team.disqualified_for)
        query = select(Team.name, Report).join(Report, Report.team_id == Team.id).order_by(Team.name)
        query = query.where(Team.challenge_id == challenge.id, *(column.is_(None) for column in there))
        reports: dict[str, Report] = {row[0]: row[1] for row in session.execute(query)}
        questions = [SurveyQuestion(**one) for one in challenge.survey]
        shown = [phase.name for phase in challenge.phases if board_visible(actor, phase, now)]
    ranks = {entry.name: entry.rank for entry in leaderboard(store, actor, slug, shown[-1]).entries} if shown else {}
    names = sorted(reports, key=lambda name: (ranks.get(name) is None, ranks.get(name) or 0, name))
    tables = []
    for question in questions:
        answers_of = {name: reports[name].answers.get(question.name, []) for name in names}
        counts = Counter(answer for answers in answers_of.values() for answer in answers)
        # The options first, so that their order decides ties.
        columns = sorted(dict.fromkeys([*question.options, *counts]), key=lambda column: -counts[column])
        rows = (
            SurveyRow(
                rank=ranks.get(name),
                team=name,
                marks=tuple(column in answers_of[name] for column in columns),
                paper=reports[name].paper,
                summary=reports[name].summary,
            )
            for name in names
        )
        tables.append(
            SurveyTable(
                name=question.name,
                title=question.title,
                columns=tuple(columns),
                counts=tuple(counts[column] for column in columns),
                rows=tuple(rows),
            )
        )
    return tables


def techniques_text(tables: list[SurveyTable]) -> str:
    """The tables as one CSV: a row for each team, a column for each answer, marked with `x`."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rank", "team", "paper", *(f"{table.name}: {name}" for table in tables for name in table.columns)])
    for row in zip(*(table.rows for table in tables), strict=True):
        marks = ["x" if mark else "" for one in row for mark in one.marks]
        writer.writerow([cell(value) for value in (row[0].rank, row[0].team, row[0].paper, *marks)])
    return out.getvalue()
