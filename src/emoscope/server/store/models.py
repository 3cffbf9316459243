"""The tables of shared tasks and annotation studies.

None holds gold labels of a shared task: gold files stay in the file store, named by their hash.
"""

from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar

import sqlalchemy as sa
from sqlalchemy import ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship

from emoscope.server.store.migrations.tables import NAMING

Sha256 = Annotated[str, mapped_column(String(64))]
Keyword = Annotated[str, mapped_column(String(16))]  # a role, kind or state


class UtcDateTime(sa.TypeDecorator[datetime]):
    """A timestamp, stored in UTC because SQLite keeps no time zone."""

    impl = sa.DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment needs its time zone")
        moment = value.astimezone(UTC)
        return moment.replace(tzinfo=None) if dialect.name == "sqlite" else moment

    def process_result_value(self, value: datetime | None, dialect: sa.Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Base(DeclarativeBase):
    """The base of all tables, with constraint names that migrations can use on both databases."""

    metadata = sa.MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {datetime: UtcDateTime, dict[str, Any]: sa.JSON, list[str]: sa.JSON}


class Numbered(Base):
    """A table with a numeric primary key."""

    __abstract__ = True

    id: Mapped[int] = mapped_column(primary_key=True)


class Dated(Numbered):
    """A table whose rows have the time of their creation."""

    __abstract__ = True

    created_at: Mapped[datetime]


class Named(Dated):
    """A table of teams or people; `key` is the name normalised for comparison, so that no two look alike."""

    __abstract__ = True

    name: Mapped[str] = mapped_column(String(64))
    key: Mapped[str] = mapped_column(String(128))


class Challenge(Dated):
    """A shared task on one registered task."""

    __tablename__ = "challenges"

    slug: Mapped[str] = mapped_column(String(64), unique=True)
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(Text)
    task: Mapped[str] = mapped_column(String(64))
    metric: Mapped[str | None] = mapped_column(String(64))  # None: the task's own
    registration: Mapped[Keyword]
    max_teams: Mapped[int]
    texts: Mapped[dict[str, Any] | None]  # rules, data, timeline and faq, in Markdown
    downloads: Mapped[Keyword] = mapped_column(default="open")  # or "registered": for teams only
    survey: Mapped[list[dict[str, Any]] | None] = mapped_column(sa.JSON)  # questions to teams about their systems
    report: Mapped[Keyword] = mapped_column(default="optional")  # or "ranked": no rank without an answer
    deleted_at: Mapped[datetime | None]
    phases: Mapped[list["Phase"]] = relationship(back_populates="challenge", order_by="Phase.position")


class Phase(Numbered):
    """A phase of a challenge, with its own data, submission limits and leaderboard."""

    __tablename__ = "phases"
    __table_args__ = (UniqueConstraint("challenge_id", "name"),)

    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    name: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(String(200))
    position: Mapped[int]
    opens_at: Mapped[datetime | None]
    closes_at: Mapped[datetime | None]
    time_zone: Mapped[str] = mapped_column(String(64))
    per_day: Mapped[int]
    total: Mapped[int | None]
    rejected_per_day: Mapped[int]
    board: Mapped[Keyword]
    counts: Mapped[Keyword]
    max_bytes: Mapped[int]
    published: Mapped[bool]
    items: Mapped[int]
    unlabelled_sha256: Mapped[Sha256]
    unlabelled_name: Mapped[str] = mapped_column(String(120))
    gold_sha256: Mapped[Sha256]
    labels: Mapped[Keyword] = mapped_column(default="secret")  # when teams get the gold: "closed", "next" or never
    labels_at: Mapped[datetime | None]  # when they get it at the latest; submissions from then on are not ranked
    humans: Mapped[dict[str, Any] | None]  # scores of the human baseline, if any
    # How scores are shown while the phase is open: step, margin, number of public items, and the file that lists them
    public: Mapped[dict[str, Any] | None]
    challenge: Mapped[Challenge] = relationship(back_populates="phases")


class ChallengeFile(Dated):
    """An extra download, such as training data; if it has a phase, it is available once that opens."""

    __tablename__ = "challenge_files"
    __table_args__ = (UniqueConstraint("challenge_id", "name"),)

    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    phase_id: Mapped[int | None] = mapped_column(ForeignKey("phases.id"))
    name: Mapped[str] = mapped_column(String(120))
    title: Mapped[str] = mapped_column(String(200))
    sha256: Mapped[Sha256]
    size: Mapped[int] = mapped_column(sa.BigInteger)
    phase: Mapped[Phase | None] = relationship()


class Team(Named):
    """A team of a challenge."""

    __tablename__ = "teams"
    __table_args__ = (UniqueConstraint("challenge_id", "key"),)

    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    merged_into: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))
    approved_at: Mapped[datetime | None]  # None: awaiting approval by the organisers
    deleted_at: Mapped[datetime | None]
    disqualified_for: Mapped[str | None] = mapped_column(String(500))  # None: not disqualified
    challenge: Mapped[Challenge] = relationship()
    members: Mapped[list["Member"]] = relationship(viewonly=True, order_by="Member.id")

    @property
    def is_active(self) -> bool:
        """Whether the team is neither deleted nor merged into another."""
        return self.deleted_at is None and self.merged_into is None


class Report(Base):
    """A team's report on its system: answers to the challenge's survey, a summary and a paper."""

    __tablename__ = "reports"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), primary_key=True, autoincrement=False)
    answers: Mapped[dict[str, Any]]
    summary: Mapped[str] = mapped_column(Text)
    paper: Mapped[str] = mapped_column(String(500))
    updated_at: Mapped[datetime]


class Member(Dated):
    """A person in a team."""

    __tablename__ = "members"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    name: Mapped[str] = mapped_column(String(64))
    email: Mapped[str | None] = mapped_column(String(254))
    verified_at: Mapped[datetime | None]  # when they confirmed the address
    subject: Mapped[str | None] = mapped_column(String(400), index=True)  # their identity at the OpenID provider
    team: Mapped[Team] = relationship()


class Token(Dated):
    """A credential, stored as a hash; it is random enough that a plain hash is safe."""

    __tablename__ = "tokens"

    hash: Mapped[str] = mapped_column(String(64), unique=True)
    role: Mapped[Keyword]
    name: Mapped[str] = mapped_column(String(64))
    challenge_id: Mapped[int | None] = mapped_column(ForeignKey("challenges.id"))
    member_id: Mapped[int | None] = mapped_column(ForeignKey("members.id"), index=True)
    used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    member: Mapped[Member | None] = relationship()


class Invitation(Dated):
    """A one-time invitation to join a team."""

    __tablename__ = "invitations"

    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class OneTimeLink(Dated):
    """A one-time secret to confirm an address, replace a lost token or register."""

    __tablename__ = "one_time_links"

    kind: Mapped[Keyword]
    hash: Mapped[str] = mapped_column(String(64), unique=True)
    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"))
    member_id: Mapped[int | None] = mapped_column(ForeignKey("members.id"))
    payload: Mapped[dict[str, Any]]
    expires_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class Attempt(Numbered):
    """A rate-limited action; `who` is a keyed hash of an address, and rows are kept for a day."""

    __tablename__ = "attempts"
    __table_args__ = (Index("ix_attempts_who", "kind", "who", "at"),)

    kind: Mapped[Keyword]
    who: Mapped[str] = mapped_column(String(64))
    at: Mapped[datetime]


class EndedSession(Base):
    """A signed-out session, whose cookie is refused although it has not expired."""

    __tablename__ = "ended_sessions"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    expires_at: Mapped[datetime]


class Merge(Dated):
    """One team's offer to merge with another."""

    __tablename__ = "merges"

    from_team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    to_team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"), index=True)
    state: Mapped[Keyword]
    decided_at: Mapped[datetime | None]
    from_team: Mapped[Team] = relationship(foreign_keys=[from_team_id])
    to_team: Mapped[Team] = relationship(foreign_keys=[to_team_id])


class Submission(Numbered):
    """A checked upload; `charged` says whether it counts towards the day's quota, `day` is in the phase's time zone."""

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("member_id", "phase_id", "request_key"),
        Index("ix_submissions_quota", "phase_id", "team_id", "day"),
    )

    public_id: Mapped[str] = mapped_column(String(32), unique=True)
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    team_id: Mapped[int] = mapped_column(ForeignKey("teams.id"))
    member_id: Mapped[int] = mapped_column(ForeignKey("members.id"))
    request_key: Mapped[str | None] = mapped_column(String(128))
    sha256: Mapped[Sha256]
    file_name: Mapped[str] = mapped_column(String(120))
    size: Mapped[int]
    note: Mapped[str] = mapped_column(String(500))
    received_at: Mapped[datetime]
    day: Mapped[str] = mapped_column(String(10))
    state: Mapped[Keyword]
    charged: Mapped[bool]
    problems: Mapped[list[str]]
    chosen_at: Mapped[datetime | None]  # when the team chose it as final; the latest choice counts
    deleted_at: Mapped[datetime | None]
    phase: Mapped[Phase] = relationship()
    team: Mapped[Team] = relationship()
    member: Mapped[Member] = relationship()
    results: Mapped[list["Result"]] = relationship(viewonly=True, order_by="Result.id.desc()")
    log: Mapped[list["LogEntry"]] = relationship(viewonly=True, order_by="LogEntry.id")


class LogEntry(Numbered):
    """A line of a submission's log."""

    __tablename__ = "submission_log"

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"), index=True)
    at: Mapped[datetime]
    text: Mapped[str] = mapped_column(String(500))


class Job(Dated):
    """A job to be done once; the unique `key` keeps it from being queued twice."""

    __tablename__ = "jobs"
    __table_args__ = (Index("ix_jobs_due", "state", "not_before"),)

    key: Mapped[str] = mapped_column(String(200), unique=True)
    kind: Mapped[Keyword]
    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"))
    submission_id: Mapped[int | None] = mapped_column(ForeignKey("submissions.id"), index=True)
    scorer_sha256: Mapped[Sha256 | None]
    gold_sha256: Mapped[Sha256 | None]
    state: Mapped[Keyword]
    attempts: Mapped[int]
    lost: Mapped[int]  # how often a worker died while running it
    lease: Mapped[str | None] = mapped_column(String(32))
    leased_until: Mapped[datetime | None]
    not_before: Mapped[datetime]
    finished_at: Mapped[datetime | None]
    reason: Mapped[str | None] = mapped_column(String(300))  # why the last attempt failed


class Result(Dated):
    """A score with the hashes of its inputs; the constraint rejects scores that are not finite fractions."""

    __tablename__ = "results"
    __table_args__ = (
        UniqueConstraint("submission_id", "scorer_sha256", "gold_sha256"),
        sa.CheckConstraint("score >= 0 AND score <= 1", name="fraction"),
    )

    submission_id: Mapped[int] = mapped_column(ForeignKey("submissions.id"))
    scorer_sha256: Mapped[Sha256]
    gold_sha256: Mapped[Sha256]
    score: Mapped[float] = mapped_column(sa.Float(53))  # on the items that decide the final ranking
    public_score: Mapped[float | None] = mapped_column(sa.Float(53))  # on the public items, if any
    figures: Mapped[dict[str, Any]]


class BoardComparison(Base):
    """The last significance comparison of a phase's leaderboard, valid for the standings with this fingerprint."""

    __tablename__ = "comparisons"

    phase_id: Mapped[int] = mapped_column(ForeignKey("phases.id"), primary_key=True, autoincrement=False)
    fingerprint: Mapped[Sha256]
    rows: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class AuditEntry(Numbered):
    """An entry of the audit log; triggers forbid changing or deleting rows."""

    __tablename__ = "audit"

    at: Mapped[datetime]
    actor: Mapped[str] = mapped_column(String(120))
    action: Mapped[str] = mapped_column(String(64))
    object: Mapped[str] = mapped_column(String(200))
    challenge_id: Mapped[int | None] = mapped_column(ForeignKey("challenges.id"), index=True)
    detail: Mapped[dict[str, Any]]


class Notice(Dated):
    """A notice from the organisers to everybody or to one team; `unsent` are the members still to be mailed."""

    __tablename__ = "notices"

    challenge_id: Mapped[int] = mapped_column(ForeignKey("challenges.id"), index=True)
    team_id: Mapped[int | None] = mapped_column(ForeignKey("teams.id"))
    author: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(String(200))
    text: Mapped[str] = mapped_column(Text)
    withdrawn_at: Mapped[datetime | None]
    mailed: Mapped[int]
    unsent: Mapped[list[int]] = mapped_column(sa.JSON)
    sending_until: Mapped[datetime | None]  # a process is mailing it; after this time another may take over
    team: Mapped[Team | None] = relationship()


class Study(Dated):
    """The study of this database; `fingerprint` identifies the tasks and rules it was created from."""

    __tablename__ = "studies"

    rules: Mapped[dict[str, Any]]
    fingerprint: Mapped[Sha256]


class StudyItem(Numbered):
    """A dialogue to annotate; `gold` holds the expected labels of gold questions."""

    __tablename__ = "study_items"
    __table_args__ = (UniqueConstraint("study_id", "name"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    name: Mapped[str] = mapped_column(Text)
    content: Mapped[dict[str, Any]]
    gold: Mapped[list[str | None]] = mapped_column(sa.JSON)  # one entry for each label asked for
    round: Mapped[Keyword | None]  # training or qualification


class Annotator(Named):
    """A person who annotates."""

    __tablename__ = "annotators"
    __table_args__ = (UniqueConstraint("study_id", "key"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    link: Mapped[int] = mapped_column(default=0)  # number of the valid link; a new one invalidates the old
    revoked_at: Mapped[datetime | None]
    profile: Mapped[dict[str, Any] | None]  # country, approval_rate, tasks


class AnnotationEvent(Numbered):
    """An item was assigned, judged, skipped, taken back, judged again or imported; `id` gives the order."""

    __tablename__ = "annotation_events"
    __table_args__ = (Index(None, "study_id", "id"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    annotator_id: Mapped[int] = mapped_column(ForeignKey("annotators.id"))
    item_id: Mapped[int] = mapped_column(ForeignKey("study_items.id"))
    kind: Mapped[Keyword]
    answers: Mapped[list[list[str]]] = mapped_column(sa.JSON)  # each is the label, then others that might apply
    suggested: Mapped[list[str | None] | None] = mapped_column(sa.JSON)  # by a model, if the annotator saw it
    at: Mapped[datetime]


class StudyNote(Numbered):
    """A guideline, flag, comment or adjudication; the latest of a kind counts."""

    __tablename__ = "study_notes"
    __table_args__ = (Index(None, "study_id", "kind", "id"),)

    study_id: Mapped[int] = mapped_column(ForeignKey("studies.id"))
    annotator_id: Mapped[int | None] = mapped_column(ForeignKey("annotators.id"))  # None: a manager
    item_id: Mapped[int | None] = mapped_column(ForeignKey("study_items.id"))
    kind: Mapped[Keyword]
    detail: Mapped[dict[str, Any]]
    at: Mapped[datetime]
