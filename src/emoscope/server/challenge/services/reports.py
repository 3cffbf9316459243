"""Teams' reports on their systems, in answer to the challenge's survey."""

import re
from collections.abc import Mapping, Sequence

from emoscope.server.challenge.limits import MAX_ANSWER, MAX_ANSWERS, MAX_SUMMARY
from emoscope.server.challenge.services.actor import Actor, require_member
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import changing, find_challenge, find_team, reading
from emoscope.server.challenge.services.survey import SurveyQuestion
from emoscope.server.challenge.views import ReportView
from emoscope.server.errors import Invalid, NotFound
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Report
from emoscope.server.store.names import clean_lines, has_control_characters, one_line

_ADDRESS = re.compile(r"https?://[^\s<>\"']{3,480}")


def survey(store: Store, actor: Actor, slug: str) -> list[SurveyQuestion]:
    """The survey questions of a challenge."""
    with store.database.read() as session:
        return [SurveyQuestion(**question) for question in find_challenge(session, actor, slug).survey or []]


def get_report(store: Store, actor: Actor, slug: str) -> ReportView | None:
    """The report of the actor's team, if there is one."""
    with reading(store, actor, slug) as (session, challenge):
        report = session.get(Report, require_member(actor, challenge.id))
        return None if report is None else ReportView.of(report)


def keep_report(
    store: Store,
    actor: Actor,
    slug: str,
    *,
    answers: Mapping[str, Sequence[str]],
    summary: str = "",
    paper: str = "",
) -> ReportView:
    """Save the report of the actor's team; it can be changed at any time."""
    with changing(store, actor, slug) as (session, challenge):
        team = find_team(session, challenge, require_member(actor, challenge.id), lock=True)
        if not challenge.survey:
            raise NotFound(f"{slug} does not ask for a report")
        values = {
            "answers": _clean_answers(challenge, answers),
            "summary": clean_lines(summary, "summary", MAX_SUMMARY),
            "paper": _clean_address(paper),
        }
        if not any(values.values()):
            raise Invalid("the report is empty; select at least one answer", field="answers")
        report = session.merge(Report(team_id=team.id, updated_at=store.clock(), **values))
        record(session, store, actor, "report.keep", f"team {team.id}", challenge_id=challenge.id)
        session.flush()
        return ReportView.of(report)


def _clean_answers(challenge: Challenge, answers: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    questions = {question["name"]: SurveyQuestion(**question) for question in challenge.survey or []}
    if unknown := [name for name in answers if name not in questions]:
        raise Invalid(f"the survey has no question {unknown[0][:64]!r}", field="answers")
    return {name: kept for name in questions if (kept := _clean_answer(questions[name], answers.get(name, ())))}


def _clean_answer(question: SurveyQuestion, given: Sequence[str]) -> list[str]:
    """The answers without duplicates; known options in their own spelling."""
    known = {option.casefold(): option for option in question.options}
    kept: dict[str, str] = {}
    for text in given:
        answer = one_line(text)
        if has_control_characters(answer):
            raise Invalid("an answer must not contain control characters", field=question.name)
        if len(answer) > MAX_ANSWER:
            raise Invalid(f"an answer is longer than {MAX_ANSWER} characters", field=question.name)
        if answer:
            kept.setdefault(answer.casefold(), known.get(answer.casefold(), answer))
    if len(kept) > MAX_ANSWERS:
        raise Invalid(f"there are more than {MAX_ANSWERS} answers", field=question.name)
    return list(kept.values())


def _clean_address(text: str) -> str:
    address = text.strip()
    if address and not _ADDRESS.fullmatch(address):
        raise Invalid("the link to the paper must start with https:// and contain no spaces", field="paper")
    return address
