"""What the services return: plain values, detached from the database, never with a gold label."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, PlainSerializer, WithJsonSchema

from emoscope.server.store.models import Base

PHASE_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
PhaseState = Literal["planned", "open", "closed"]
SubmissionState = Literal["queued", "scoring", "scored", "failed", "rejected"]
Registration = Literal["open", "email", "approval", "invitation", "closed"]
Part = Literal["all", "public", "private"]  # of the gold
EntryKind = Literal["team", "published", "human"]
# In JSON with its offset: 2030-01-20T00:00:00+00:00.
Moment = Annotated[
    datetime,
    PlainSerializer(datetime.isoformat, when_used="json"),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]


class View(BaseModel, frozen=True):
    """The base of the views below."""

    @classmethod
    def of(cls, row: Base, **values: Any) -> Self:
        """A view of a row; fields not among these values are the row's columns, `closes` also of `closes_at`."""
        for name, info in cls.model_fields.items():
            if name not in values and name in row.__table__.columns:
                values[name] = getattr(row, name)
            elif name not in values and f"{name}_at" in row.__table__.columns:
                moment = getattr(row, f"{name}_at")
                values[name] = moment is not None if info.annotation is bool else moment
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON: times in ISO 8601 with their offset."""
        return self.model_dump(mode="json")


class PhaseView(View):
    """A phase as anybody may see it."""

    name: str
    title: str
    state: PhaseState
    opens: Moment | None
    closes: Moment | None
    time_zone: str
    per_day: int
    total: int | None
    rejected_per_day: int
    board: Literal["open", "hidden"]
    board_visible: bool  # to this actor, now
    counts: Literal["best", "last"]
    max_bytes: int
    unlabelled_name: str
    items: int
    labels: Literal["secret", "closed", "next"] = "secret"  # when teams get them
    labels_released: bool = False
    public_items: int | None  # how many of them an open board scores; the others decide at the close


class ChallengeView(View):
    """A challenge as anybody may see it."""

    slug: str
    title: str
    description: str
    task: str
    task_title: str
    labels: tuple[str, ...]
    metric: str
    metric_description: str
    registration: Registration
    phases: tuple[PhaseView, ...]
    texts: Mapping[str, str] = Field(default_factory=dict)  # rules, data, timeline, faq, in Markdown
    downloads: Literal["open", "registered"] = "open"
    has_survey: bool = False
    report: Literal["optional", "ranked"] = "optional"
    teams: int
    max_teams: int
    deleted: bool = False

    @property
    def over(self) -> bool:
        """Whether all phases have closed."""
        return all(phase.state == "closed" for phase in self.phases)


class FileView(View):
    """A file that participants get besides those of the phases."""

    name: str
    title: str
    size: int
    sha256: str
    phase: str | None  # with whose opening it is given out
    given_out: bool


class QuestionView(View):
    """A question of a survey."""

    name: str
    title: str
    options: tuple[str, ...]


class ReportView(View):
    """What a team tells about its system."""

    answers: Mapping[str, tuple[str, ...]]  # by question
    summary: str
    paper: str
    updated: Moment


class SurveyRow(View):
    """A team's answers to one question: a mark for each column."""

    rank: int | None
    team: str
    marks: tuple[bool, ...]
    paper: str = ""
    summary: str = ""


class SurveyTable(View):
    """A question with the answers of all teams, the most popular first."""

    name: str
    title: str
    columns: tuple[str, ...]
    counts: tuple[int, ...]
    rows: tuple[SurveyRow, ...]


class MemberView(View):
    """A member, as the own team and the organisers see it."""

    id: int
    name: str
    email: str | None
    joined: Moment
    verified: bool = False  # the address is known to be theirs


class TeamCounts(View):
    """What a team has sent, by what became of it; deleted ones are counted apart."""

    scored: int = 0
    waiting: int = 0  # to be scored, or being scored
    failed: int = 0
    rejected: int = 0
    deleted: int = 0
    last: Moment | None = None  # when it sent the newest

    @property
    def sent(self) -> int:
        """How many were accepted."""
        return self.scored + self.waiting + self.failed + self.deleted


class TeamView(View):
    """A team, as its members and the organisers see it."""

    id: int
    name: str
    challenge: str
    registered: Moment
    members: tuple[MemberView, ...]
    merge_offers: tuple["MergeView", ...] = ()
    approved: bool = True  # False: the organisers have yet to let it in
    deleted: bool = False
    disqualified_for: str | None = None
    counts: TeamCounts | None = None  # for organisers


class MergeView(View):
    """An offer of one team to join with another, which has to accept it."""

    id: int
    offered_by: str
    offered_to: str
    state: Literal["offered", "accepted", "declined"]
    offered: Moment


class Registered(View):
    """A new member with the token, which is shown this once."""

    team: TeamView
    member: MemberView
    token: str


class MailSent(View):
    """A mail is on its way; nothing happens until its link is followed."""

    sent_to: str
    expires: Moment


class Issued(View):
    """A token or invitation, shown this once; the id is what revokes it."""

    id: int
    token: str
    expires: Moment | None = None


class TokenView(View):
    """A token as it may be listed: never the secret."""

    id: int
    role: Literal["organiser", "participant"]
    name: str
    team: str | None
    member_id: int | None = None
    created: Moment
    used: Moment | None
    revoked: Moment | None


class QuotaView(View):
    """What a team has used and what it has left in a phase, on the phase's present day."""

    phase: str
    day: str
    used_today: int
    per_day: int
    used_total: int
    total: int | None
    rejected_today: int
    rejected_per_day: int
    left_today: int
    next_day: Moment


class Figures(View):
    """The figures of a score that a board shows; `per_class` only of a score that is not rounded."""

    score: float
    low: float
    high: float
    per_class: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)  # precision, recall, f1
    part: Part = "all"
    digits: int = 4  # to show


class SubmissionView(View):
    """A submission, as its team and the organisers see it; `figures` is None while the board is hidden from them."""

    id: str
    challenge: str
    phase: str
    team: str
    member: str
    file_name: str
    size: int
    sha256: str
    note: str
    received: Moment
    state: SubmissionState
    problems: tuple[str, ...] = ()
    figures: Figures | None = None
    stale: bool = False
    deleted: bool = False
    charged: bool = True
    chosen: bool = False  # by its team, as the one that counts
    can_choose: bool = False  # the phase is open, and not simply the last one counts
    log: tuple["LogLine", ...] = ()
    repeated: bool = False  # the same request came again; this is what it was answered with before

    @property
    def final(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in {"scored", "failed", "rejected"}


class LogLine(View):
    """One line of a submission's log."""

    at: Moment
    text: str


class HistoryPoint(View):
    """What a team stood at from a moment on."""

    at: Moment
    score: float


class Entry(View):
    """A row of the board. Published systems and people are beside the ranking, so they have neither rank nor row."""

    kind: EntryKind
    name: str
    score: float | None
    rank: int | None = None
    row: int | None = None
    low: float | None = None
    high: float | None = None
    per_class: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    cluster: int | None = None
    first_different: int | None = None  # column B: the first row below that differs significantly
    received: Moment | None = None
    submissions: int | None = None
    stale: bool = False
    state: SubmissionState | None = None
    former_rank: int | None = None  # in the phase before
    reported: bool | None = None  # whether the team has described its system, where that is asked for
    history: tuple[HistoryPoint, ...] = ()
    mine: bool = False
    submission: str | None = None  # the id, for the own team and the organisers
    note: str | None = None


class ClassWinner(View):
    """The best team on a class, and how all teams did on it."""

    label: str
    team: str
    precision: float
    recall: float
    f1: float
    mean_f1: float
    best_for: int  # of how many teams it is the best class
    worst_for: int


class Statistics(View):
    """The scores of all teams, as in Table 6 of the EmoContext paper."""

    teams: int
    max: float
    min: float
    mean: float
    median: float
    first_quartile: float
    third_quartile: float
    deviation: float


class BoardView(View):
    """A phase's board: ranked teams first, then those without a score, with the published systems among them."""

    challenge: str
    phase: str
    title: str
    task: str
    metric: str
    metric_description: str
    counts: Literal["best", "last"]
    state: PhaseState
    part: Part  # what the teams' scores are on
    step: float | None  # to which they are rounded
    digits: int = 4  # to show
    computed: Moment
    entries: tuple[Entry, ...]
    clusters_ready: bool  # False: teams have changed since the last comparison, which is on its way
    comparison_failed: bool = False  # it is not on its way: organisers see why among their jobs
    level: float
    former: str | None = None  # the title of the phase before, whose ranks the teams had
    winners: tuple[ClassWinner, ...] = ()  # once the phase has closed
    statistics: Statistics | None = None  # once the phase has closed
    notes: tuple[str, ...] = ()


class JobView(View):
    """A scoring or comparison that is not done; `reason` says why its last attempt failed."""

    id: int
    kind: Literal["score", "compare"]
    phase: str
    submission: str | None
    state: Literal["queued", "running", "failed"]
    attempts: int
    reason: str | None
    created: Moment
    finished: Moment | None


class JobsView(View):
    """The jobs of a challenge: how many in each state, and those that are not done."""

    counts: Mapping[str, int]
    unfinished: tuple[JobView, ...]


class GoldView(View):
    """New gold labels: the hashes of the files before and now, and how many submissions are scored again."""

    phase: str
    before: str
    after: str
    queued: int


class NoticeView(View):
    """What organisers told everybody, or one team; who was mailed only for organisers."""

    id: int
    title: str
    text: str
    author: str
    posted: Moment
    team_id: int | None = None
    team: str | None = None
    withdrawn: bool = False
    mailed: int = 0
    unsent: int = 0  # members to whom it has yet to be mailed


class StorageView(View):
    """How much space is used; a file that was sent twice is kept once."""

    submissions: int  # files
    submission_bytes: int
    data_bytes: int  # what participants get, and gold
    database_bytes: int | None = None  # of the whole server, as what is free: for those who organise everything
    free_bytes: int | None = None


class AuditLine(View):
    """One line of the audit log."""

    id: int
    at: Moment
    actor: str
    action: str
    object: str
    detail: Mapping[str, Any]
