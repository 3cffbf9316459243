"""A board with many teams of long names, without the hours their scoring would take."""

import random
from collections.abc import Collection
from datetime import timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from benchmarks.serving.site import TEXTS
from emoscope.server.challenge.scoring.scorer import scorer_sha256
from emoscope.server.challenge.scoring.standing import fingerprint, standings
from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.challenges import create_challenge
from emoscope.server.challenge.services.teams import register_team
from emoscope.server.store import Store
from emoscope.server.store.models import BoardComparison, Challenge, Member, Phase, Report, Result, Submission, Team
from emoscope.server.store.names import name_key
from kits.challenge_kit import phase, write_challenge

WORDS = ["Emotion", "Dialogue", "Context", "Signal", "Northern", "Laboratory", "Affective", "Computing", "Attention"]
OPTIONS = ["GloVe", "BERT", "ELMo", "Word2Vec"]


def long_name(number: int, letters: int = 60) -> str:
    """A name of that many characters, which no other number has."""
    words = random.Random(number).sample(WORDS, len(WORDS))
    return f"{number:03} {' '.join(words)}"[:letters].strip().ljust(letters, "x")


def crowded_challenge(store: Store, folder: Path, *, teams: int = 200, closed: Collection[str] = ()) -> str:
    """A challenge `mine` of two phases with scored submissions of many teams; the token of the tenth's member."""
    now = store.clock().replace(tzinfo=None, microsecond=0)
    phases = ""
    for name in ("practice", "final"):
        closes = now + timedelta(days=-1 if name in closed else 3)
        phases += phase(name, opens=now - timedelta(days=20), per_day=20, closes=closes)
    create_challenge(store, OPERATOR, write_challenge(folder, phases=phases, head=TEXTS))
    own = register_team(store, OPERATOR, "mine", team=long_name(10), member="Ana")
    with store.database.write() as session:  # at once: what services do one by one would take minutes
        challenge, draw = session.query(Challenge).one(), random.Random(7)
        scorer = scorer_sha256(challenge.task, challenge.metric)
        for number in range(1, teams + 1):
            team, member = (own.team.id, own.member.id) if number == 10 else _add_team(session, challenge, number)
            if number % 3:
                answers = {"representations": [*draw.sample(OPTIONS, 2), "Our own"], "networks": ["BiLSTM"]}
                summary = "A blend." if number < 4 else ""
                report = Report(team_id=team, answers=answers, summary=summary, paper="", updated_at=store.clock())
                session.add(report)
            for one in challenge.phases:
                _add_submissions(session, store, one, team, member, scorer, draw)
    _compare(store)
    return own.token


def _add_team(session: Session, challenge: Challenge, number: int) -> tuple[int, int]:
    name, now = long_name(number), challenge.created_at
    team = Team(challenge_id=challenge.id, name=name, key=name_key(name), created_at=now, approved_at=now)
    session.add(team)
    session.flush()
    member = Member(team_id=team.id, name=f"Member {number}", created_at=now)
    session.add(member)
    session.flush()
    return team.id, member.id


def _add_submissions(
    session: Session, store: Store, one: Phase, team: int, member: int, scorer: str, draw: random.Random
) -> None:
    level = draw.uniform(0.3, 0.78)
    for day in range(4):
        at = store.clock() - timedelta(days=18 - 4 * day, minutes=draw.randrange(1000))
        sent = Submission(
            public_id=f"{one.id}x{team}x{day}",
            phase_id=one.id,
            team_id=team,
            member_id=member,
            sha256="0" * 64,
            file_name="answers.txt",
            size=10,
            note="",
            received_at=at,
            day=at.date().isoformat(),
            state="scored",
            charged=True,
            problems=[],
        )
        session.add(sent)
        session.flush()
        score = min(1.0, level + 0.02 * day + draw.uniform(-0.01, 0.02))
        classes = {label: min(1.0, score + draw.uniform(-0.1, 0.1)) for label in ("happy", "sad", "angry")}
        figures = {label: {"precision": f1, "recall": f1, "f1": f1} for label, f1 in classes.items()}
        result = Result(
            submission_id=sent.id,
            scorer_sha256=scorer,
            gold_sha256=one.gold_sha256,
            score=score,
            figures={"low": max(0, score - 0.03), "high": min(1, score + 0.03), "per_class": figures},
            created_at=at,
        )
        session.add(result)


def _compare(store: Store) -> None:
    with store.database.write() as session:
        for one in session.query(Phase):
            scorer = scorer_sha256(one.challenge.task, one.challenge.metric)
            ranked = [standing.submission for standing in standings(session, one, scorer) if standing.ranked]
            rows = {
                submission.public_id: {"cluster": row // 12 + 1, "first_different": row + 9}
                for row, submission in enumerate(ranked)
            }
            compared = BoardComparison(
                phase_id=one.id, fingerprint=fingerprint(ranked, one, scorer), rows=rows, created_at=store.clock()
            )
            session.merge(compared)
