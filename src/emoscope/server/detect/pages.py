"""The start page, the detect page and the model card.

Without scripts, the detect page posts a form and gets a page. With scripts, the browser reads what was typed or opened,
and sends only the question to `/detect/results`, which returns the results as an HTML fragment.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Form, Request
from pydantic import ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from emoscope.core.errors import EmoscopeError
from emoscope.server.detect.api import dialogue_of, served
from emoscope.server.detect.columns import ALL_ROWS
from emoscope.server.detect.question import Answer, NamedDialogue, Question, answer_of
from emoscope.server.detect.reading import Reading, read
from emoscope.server.detect.schemas import TurnIn
from emoscope.server.detect.service import DetectService
from emoscope.server.http.problems import Problem, invalid
from emoscope.server.http.rendering import page, sentence, templates
from emoscope.server.settings import Limits

router = APIRouter(include_in_schema=False)
CONTEXT = 5  # turns sent before a part, as context
PREVIEW = 5  # rows in the preview of a table
_MEDIA = {"csv": "text/csv; charset=utf-8", "json": "application/json", "svg": "image/svg+xml"}
EXAMPLE = """Mia: hey, are you there?
Tom: yes, how was the exam?
Mia: I passed!!! I am so happy 😂😂
Tom: wow, congratulations :)
Mia: thank you so much
Tom: are you going to celebrate?
Mia: no, my best friend is ignoring me again 😭
Tom: oh no, what happened?
Mia: she lied to me. I hate liars 😡
Tom: that is so mean
Mia: anyway, when is dinner?
Tom: at eight, my sister is cooking"""
SHORT_EXAMPLE = """Ana: I got the job!!!
Ben: no way, congratulations!
Ana: I can't stop smiling
Ben: and the flat?
Ana: they gave it to someone else, after all those promises :(
Ben: that is outrageous"""


@dataclass
class Pane:
    """One conversation of the page: its text, how it was read, and its answer."""

    number: int
    text: str = ""
    reading: Reading | None = None
    dialogue: str = ""  # the number of the conversation, or "all"
    part: int = 0
    parts: tuple[str, ...] = ()
    error: str = ""
    question: Question | None = None
    answer: Answer | None = None

    @property
    def suffix(self) -> str:
        """The suffix of its elements' and fields' names; empty for the first."""
        return "-b" if self.number else ""


@router.get("/")
async def _start_page(request: Request) -> HTMLResponse:
    state = request.app.state
    if state.detect is not None and not hasattr(state, "example_answer"):  # the page is up before the model
        dialogue = read(SHORT_EXAMPLE).conversations[0]
        turns = [TurnIn(text=turn.text, speaker=turn.speaker) for turn in dialogue.turns]
        with suppress(Problem):  # the queue is full
            state.example_answer = await _answer(request, Question(dialogues=[NamedDialogue(turns=turns)]))
    answer = getattr(state, "example_answer", None)
    return page("start.html.j2", here="start", example=SHORT_EXAMPLE, answer=answer)


@router.get("/favicon.ico")
async def favicon() -> Response:
    """Browsers request this whatever the page says."""
    return RedirectResponse("/static/icon.svg", 308)


@router.get("/detect")
async def _detect_page(request: Request, two: bool = False, example: bool = False) -> HTMLResponse:
    panes = [Pane(number) for number in range(2 if two else 1)]
    if example:
        panes[0].text = EXAMPLE
    return _page(request, panes, {})


@router.post("/detect")
async def _answered_page(request: Request, two: bool = False) -> HTMLResponse:
    async with request.form(max_part_size=request.app.state.settings.limits.max_body_bytes) as form:
        panes = [await _pane(request, form, number) for number in range(2 if two else 1)]
        return _page(request, panes, form)


@router.post("/detect/results")
async def _results(question: Question, request: Request, *, brief: bool = False, pane: int = 0) -> HTMLResponse:
    answer = await _answer(request, question)
    if brief:
        return page("brief.html.j2", answer=answer)
    shown = Pane(pane, question=question, answer=answer)
    return page("results.html.j2", pane=shown)


@router.post("/detect/results.{kind}")
async def _download(kind: str, asked: Annotated[str, Form()], request: Request) -> Response:
    if kind not in _MEDIA:
        raise Problem(404, "http", "expected results.csv, results.json or results.svg")
    try:
        question = Question.model_validate_json(asked)
    except ValidationError:
        raise invalid("asked", "is not a question of the detect page") from None
    answer = await _answer(request, question)
    if kind == "svg":
        content = templates().get_template("timeline.svg.j2").render(as_file=True, answer=answer)
    else:
        content = answer.as_csv() if kind == "csv" else answer.as_json()
    headers = {"Content-Disposition": f'attachment; filename="emotions.{kind}"'}
    return Response(content, media_type=_MEDIA[kind], headers=headers)


@router.get("/model")
async def _model_page(request: Request) -> HTMLResponse:
    service, _ = served(request)
    heads = service.heads
    return page("model.html.j2", heads=heads, card=_card_html(heads.card) if heads.card else None)


def _page(request: Request, panes: list[Pane], form: Mapping[str, Any]) -> HTMLResponse:
    service: DetectService | None = request.app.state.detect
    return page(
        "detect.html.j2",
        status=422 if any(pane.error for pane in panes) else 200,
        here="detect",
        panes=panes,
        heads=service.heads if service else None,
        labels=form.get("labels", ""),
        prior=form.get("prior", "model"),
        example=EXAMPLE,
        preview=PREVIEW,
    )


async def _answer(request: Request, question: Question) -> Answer:
    service, limits = served(request)
    if len(question.dialogues) > (1 if question.each_turn else limits.max_dialogues):
        raise invalid("dialogues", f"has {len(question.dialogues):,} dialogues, which is too many")
    detector = service.heads.detector(question.labels, question.prior)
    dialogues = [
        dialogue_of(one.turns, limits, f"dialogues[{row}].", one.name) for row, one in enumerate(question.dialogues)
    ]
    # Only the turns that the model looks at are passed on, so that `truncated` marks only what it should have read.
    if question.each_turn:
        asked = list(detector.upto_each_turn(dialogues[0], beyond=0))
    else:
        asked = [list(detector.upto_each_turn(dialogue, beyond=0))[-1] for dialogue in dialogues]
    client = service.access.client(request.scope)
    service.access.count(client, len(asked))
    batch = await service.detect(detector, asked, client.name)
    return answer_of(question, dialogues, batch.results, detector, service.heads.model)


async def _pane(request: Request, form: FormData, number: int) -> Pane:
    """One conversation of a form, read and answered."""
    pane = Pane(number)
    sent = {name.removesuffix(pane.suffix): form[name] for name in form if name.endswith("-b") == bool(number)}
    limits = request.app.state.settings.limits
    try:
        file = sent.get("file")
        name = file.filename or "" if isinstance(file, UploadFile) else ""
        pane.text = _decoded(await file.read(), name) if isinstance(file, UploadFile) and name else _said(sent, "text")
        pane.reading = await to_thread.run_sync(_read, pane.text, name, {} if name else sent)
        if not pane.reading.conversations:
            typed = pane.reading.format == "lines" and not name
            raise EmoscopeError(
                "type or paste a conversation first" if typed else f"no turns were found in {name or 'it'}"
            )
        pane.dialogue = "" if name else _said(sent, "dialogue")
        pane.question = _question(pane, sent, limits, _said(form, "labels") or None, _prior(request, form))
        pane.answer = await _answer(request, pane.question)
    except Problem as problem:
        pane.error = sentence(problem.detail)
    except EmoscopeError as error:
        pane.error = sentence(str(error))
    return pane


def _read(text: str, name: str, sent: Mapping[str, Any]) -> Reading:
    """Read the text; columns that were chosen for another table are ignored."""
    reading = read(text, name)
    if reading.table is None or sent.get("columns") != "|".join(reading.table.names):
        return reading
    chosen = {key: str(sent[f"column-{key}"]) for key in ("text", "speaker", "conversation") if f"column-{key}" in sent}
    return read(text, name, {**chosen, "header": str(sent.get("column-header", ""))})


def _question(
    pane: Pane, sent: Mapping[str, Any], limits: Limits, labels: str | None, prior: Mapping[str, float] | None
) -> Question:
    """The question: one conversation or all of them; a part if they are too long."""
    assert pane.reading is not None
    conversations = pane.reading.conversations
    number = int(pane.dialogue) if _is_number(pane.dialogue) else len(conversations)
    each_turn = len(conversations) == 1 or number < len(conversations)
    pane.dialogue = (str(number) if number < len(conversations) else "0") if each_turn else ALL_ROWS
    chosen = conversations[int(pane.dialogue)] if each_turn else None
    total = len(conversations) if chosen is None else len(chosen)
    size = limits.max_dialogues if chosen is None else max(1, limits.max_turns - CONTEXT)
    pane.parts = tuple(f"{start + 1} to {min(total, start + size)}" for start in range(0, total, size))
    part = _said(sent, "part")
    pane.part = min(int(part), len(pane.parts) - 1) if _is_number(part) else 0
    start = pane.part * size
    if chosen is None:
        kept = conversations[start : start + size]
        skip = 0
    else:
        skip = min(CONTEXT, start)
        kept = [type(chosen)(chosen.turns[start - skip : start + size], chosen.id)]
    dialogues = [
        NamedDialogue(
            turns=[TurnIn(text=turn.text, speaker=turn.speaker) for turn in each.turns[-limits.max_turns :]],
            name=each.id,
        )
        for each in kept
    ]
    return Question(
        dialogues=dialogues,
        each_turn=each_turn,
        skip=skip,
        first=start + 1,
        labels=labels,
        prior=dict(prior) if prior else None,
    )


def _prior(request: Request, form: FormData) -> Mapping[str, float] | None:
    service, _ = served(request)
    detector = service.heads.detector(_said(form, "labels") or None)
    match _said(form, "prior"):
        case "training":
            return detector.training_prior
        case "even":
            return dict.fromkeys(detector.labels, 1 / len(detector.labels))
    return None


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 9


def _said(form: Mapping[str, Any], name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _decoded(content: bytes, name: str) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError:
        raise EmoscopeError(f"{name} is not UTF-8 text: save it as UTF-8, in Excel as “CSV UTF-8”") from None
    if "\x00" in text:
        raise EmoscopeError(f"{name} is not a text file")
    return text


@lru_cache(8)
def _card_html(card: str) -> str:
    """A model card as HTML; HTML in the card is escaped."""
    from markdown_it import MarkdownIt

    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(card)
    # The content security policy forbids style attributes; in our tables, cells are right-aligned but for text.
    for cell in ("th", "td"):
        html = html.replace(f"<{cell}>", f'<{cell} class="text">')
    html = html.replace(' style="text-align:right"', "").replace(' style="text-align:left"', ' class="text"')
    region = '<div class="scroll" tabindex="0" role="group" aria-label="Table">'
    return html.replace("<table>", f"{region}<table>").replace("</table>", "</table></div>")
