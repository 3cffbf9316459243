"""What the services return: plain values, detached from the database and never with gold labels."""

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
        """A view of a row: fields without a value are taken from its columns, `closes` also from `closes_at`."""
        for name, info in cls.model_fields.items():
            if name not in values and name in row.__table__.columns:
                values[name] = getattr(row, name)
            elif name not in values and f"{name}_at" in row.__table__.columns:
                moment = getattr(row, f"{name}_at")
                values[name] = moment is not None if info.annotation is bool else moment
        return cls(**values)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; times in ISO 8601 with their offset."""
        return self.model_dump(mode="json")


class PhaseView(View):
    """A phase, as anyone may see it."""

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
    labels: Literal["secret", "closed", "next"] = "secret"  # when teams can get them
    labels_at: Moment | None = None  # and at this time at the latest; submissions from then on are not ranked
    labels_released: bool = False
    public_items: int | None  # scored by an open board; the others decide the final ranking


class ChallengeView(View):
    """A challenge, as anyone may see it."""

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
    """A file for participants, other than those of the phases."""

    name: str
    title: str
    size: int
    sha256: str
    phase: str | None  # it becomes available when this phase opens
    given_out: bool


class ReportView(View):
    """A team's report on its system."""

    answers: Mapping[str, tuple[str, ...]]  # by question
    summary: str
    paper: str
    updated: Moment


class SurveyRow(View):
    """A team's answers to one question, a mark for each column."""

    rank: int | None
    team: str
    marks: tuple[bool, ...]
    paper: str = ""
    summary: str = ""


class SurveyTable(View):
    """A question with the answers of all teams, the most frequent first."""

    name: str
    title: str
    columns: tuple[str, ...]
    counts: tuple[int, ...]
    rows: tuple[SurveyRow, ...]


class MemberView(View):
    """A member, as their team and the organisers see them."""

    id: int
    name: str
    email: str | None
    joined: Moment
    verified: bool = False  # they have proved that the address is theirs


class TeamCounts(View):
    """A team's submissions by state; deleted ones are counted separately."""

    scored: int = 0
    waiting: int = 0  # queued or being scored
    failed: int = 0
    rejected: int = 0
    deleted: int = 0
    last: Moment | None = None  # when the newest was received

    @property
    def sent(self) -> int:
        """The number of accepted submissions."""
        return self.scored + self.waiting + self.failed + self.deleted


class TeamView(View):
    """A team, as its members and the organisers see it."""

    id: int
    name: str
    challenge: str
    registered: Moment
    members: tuple[MemberView, ...]
    merge_offers: tuple["MergeView", ...] = ()
    approved: bool = True  # False: waiting for approval
    deleted: bool = False
    disqualified_for: str | None = None
    counts: TeamCounts | None = None  # for organisers

    @property
    def state(self) -> Literal["deleted", "disqualified", "active", "waiting"]:
        """Whether the team participates: `waiting` means for approval."""
        if self.deleted:
            return "deleted"
        return "disqualified" if self.disqualified_for else "active" if self.approved else "waiting"


class MergeView(View):
    """An offer to merge with another team, which has to accept it."""

    id: int
    offered_by: str
    offered_to: str
    state: Literal["offered", "accepted", "declined"]
    offered: Moment


class Registered(View):
    """A new member with their token, which is shown only once."""

    team: TeamView
    member: MemberView
    token: str


class MailSent(View):
    """A mail was sent; nothing happens until its link is used."""

    sent_to: str
    expires: Moment


class Issued(View):
    """A token or invitation, shown only once; its id is used to revoke it."""

    id: int
    token: str
    expires: Moment | None = None


class TokenView(View):
    """A token without its secret."""

    id: int
    role: Literal["organiser", "participant"]
    name: str
    team: str | None
    member_id: int | None = None
    created: Moment
    used: Moment | None
    revoked: Moment | None


class QuotaView(View):
    """What a team has used and has left in a phase, on the current day in the phase's time zone."""

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
    """A score with its interval; `per_class` and `further` only if the score is not rounded."""

    score: float
    low: float
    high: float
    per_class: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)  # precision, recall, f1
    further: Mapping[str, float] = Field(default_factory=dict)  # by the other metrics that the task's paper reports
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
    can_choose: bool = False  # the phase is open and does not count the last submission
    late: bool = False  # received after the phase's labels came out, and so not ranked
    log: tuple["LogLine", ...] = ()
    repeated: bool = False  # the request was repeated; this is the first response

    @property
    def final(self) -> bool:
        """Whether its state is final."""
        return self.state in {"scored", "failed", "rejected"}


class LogLine(View):
    """An entry in a submission's log."""

    at: Moment
    text: str


class HistoryPoint(View):
    """A team's score from a moment on."""

    at: Moment
    score: float


class Entry(View):
    """A row of the board. Published systems and humans are not ranked, so they have neither rank nor row."""

    kind: EntryKind
    name: str
    score: float | None
    rank: int | None = None
    row: int | None = None
    low: float | None = None
    high: float | None = None
    per_class: Mapping[str, Mapping[str, float]] = Field(default_factory=dict)
    further: Mapping[str, float] = Field(default_factory=dict)  # by metrics that do not rank
    cluster: int | None = None
    first_different: int | None = None  # the first row below that differs significantly
    received: Moment | None = None
    submissions: int | None = None
    stale: bool = False
    state: SubmissionState | None = None
    former_rank: int | None = None  # in the previous phase
    reported: bool | None = None  # whether the team has described its system, if the challenge asks for it
    history: tuple[HistoryPoint, ...] = ()
    mine: bool = False
    submission: str | None = None  # the id, for its team and the organisers
    note: str | None = None


class ClassWinner(View):
    """The best team for a class, and how all teams did on it."""

    label: str
    team: str
    precision: float
    recall: float
    f1: float
    mean_f1: float
    best_for: int  # for how many teams it is the best class
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
    """A phase's board: ranked teams and published systems by score, then teams without a score."""

    challenge: str
    phase: str
    title: str
    task: str
    metric: str
    metric_description: str
    counts: Literal["best", "last"]
    state: PhaseState
    part: Part  # on which the teams are scored
    step: float | None  # to which scores are rounded
    digits: int = 4  # to show
    computed: Moment
    entries: tuple[Entry, ...]
    clusters_ready: bool  # False: the standing has changed and is being compared again
    comparison_failed: bool = False  # organisers see why among the jobs
    level: float
    former: str | None = None  # the title of the previous phase
    further_metrics: tuple[str, ...] = ()  # that do not rank, once the phase has closed
    winners: tuple[ClassWinner, ...] = ()  # once the phase has closed
    statistics: Statistics | None = None  # once the phase has closed
    notes: tuple[str, ...] = ()


class JobView(View):
    """An unfinished scoring or comparison job; `reason` says why its last attempt failed."""

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
    """The jobs of a challenge: how many are in each state, and the unfinished ones."""

    counts: Mapping[str, int]
    unfinished: tuple[JobView, ...]


class GoldView(View):
    """Replaced gold labels: the hashes of the old and new file, and how many submissions are rescored."""

    phase: str
    before: str
    after: str
    queued: int


class NoticeView(View):
    """An announcement, or a message to one team; mail counts are for organisers only."""

    id: int
    title: str
    text: str
    author: str
    posted: Moment
    team_id: int | None = None
    team: str | None = None
    withdrawn: bool = False
    mailed: int = 0
    unsent: int = 0  # members who have not been mailed yet


class StorageView(View):
    """Storage in use; identical files are stored once."""

    submissions: int  # files
    submission_bytes: int
    data_bytes: int  # participants' data and gold
    database_bytes: int | None = None  # of the whole server, for organisers of everything
    free_bytes: int | None = None


class AuditLine(View):
    """An entry in the audit log."""

    id: int
    at: Moment
    actor: str
    action: str
    object: str
    detail: Mapping[str, Any]
