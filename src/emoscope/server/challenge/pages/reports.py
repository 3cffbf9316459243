"""File downloads, and the form for a team's report on its system."""

from fastapi import APIRouter
from starlette.responses import Response

from emoscope.server.challenge.dependencies import PhaseName, Slug, download
from emoscope.server.challenge.pages.visitors import CurrentVisitor, FormVisitor, Visitor, WholeForm
from emoscope.server.challenge.services import challenges, handouts, reports
from emoscope.server.challenge.views import ReportView
from emoscope.server.errors import Invalid, ServerError

router = APIRouter(prefix="/challenges/{slug}", include_in_schema=False)


@router.get("/files/{name}")
def _file(visitor: CurrentVisitor, slug: Slug, name: str) -> Response:
    return download(visitor.ask(handouts.challenge_file, slug, name))


@router.get("/phases/{phase}/labels")
def _labels(visitor: CurrentVisitor, slug: Slug, phase: PhaseName) -> Response:
    return download(visitor.ask(handouts.labels_file, slug, phase))


@router.get("/report")
def _report_page(visitor: CurrentVisitor, slug: Slug) -> Response:
    return _show(visitor, slug, visitor.ask(reports.get_report, slug))


def _show(
    visitor: Visitor, slug: str, report: ReportView | None, *, error: ServerError | None = None, saved: bool = False
) -> Response:
    return visitor.page(
        "report.html.j2",
        error=error,
        challenge=visitor.ask(challenges.get_challenge, slug),
        questions=visitor.ask(reports.survey, slug),
        report=report,
        saved=saved,
    )


@router.post("/report")
def _keep(visitor: FormVisitor, slug: Slug, form: WholeForm) -> Response:
    """Save the report, or show what is wrong at its field."""

    def sent(name: str) -> list[str]:
        return [value for value in form.getlist(name) if isinstance(value, str)]

    answers = {}
    for question in visitor.ask(reports.survey, slug):
        written = [part for text in sent(f"other-{question.name}") for part in text.split(",")]
        answers[question.name] = [*sent(f"q-{question.name}"), *written]
    summary, paper = "".join(sent("summary")), "".join(sent("paper"))
    try:
        kept = visitor.ask(reports.keep_report, slug, answers=answers, summary=summary, paper=paper)
    except Invalid as error:
        given = {name: tuple(part.strip() for part in parts if part.strip()) for name, parts in answers.items()}
        shown = ReportView(answers=given, summary=summary, paper=paper, updated=visitor.store.clock())
        return _show(visitor, slug, shown, error=error)
    return _show(visitor, slug, kept, saved=True)
