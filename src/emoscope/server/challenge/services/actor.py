"""Actors: who calls a service function, which checks what they are allowed to do."""

from dataclasses import dataclass
from typing import Literal

from emoscope.server.errors import NotAllowed, NotFound, Unauthenticated

Role = Literal["organiser", "participant", "public"]


@dataclass(frozen=True, slots=True)
class Actor:
    """A role and its scope.

    An organiser without a challenge may do everything, one with a challenge everything in it. A participant belongs
    to one team of one challenge.
    """

    role: Role
    challenge_id: int | None = None
    team_id: int | None = None
    member_id: int | None = None
    token_id: int | None = None
    name: str = ""

    @property
    def label(self) -> str:
        """The actor's name in the audit log.

        >>> OPERATOR.label, Actor("participant", 1, 2, 3).label
        ('organiser (operator)', 'participant member 3 of team 2')
        """
        if self.role == "participant":
            return f"participant member {self.member_id} of team {self.team_id}"
        return f"{self.role} ({self.name})" if self.name else self.role

    def organises(self, challenge_id: int | None) -> bool:
        """Whether the actor organises a challenge; None stands for the whole server.

        >>> Actor("organiser", challenge_id=1).organises(2), OPERATOR.organises(2)
        (False, True)
        """
        return self.role == "organiser" and self.challenge_id in (None, challenge_id)

    def plays(self, team_id: int) -> bool:
        """Whether the actor is a member of a team."""
        return self.role == "participant" and self.team_id == team_id


PUBLIC = Actor("public")
# The command line: whoever has a shell on the machine can read the files anyway.
OPERATOR = Actor("organiser", name="operator")


def require_organiser(actor: Actor, challenge_id: int | None) -> None:
    """Refuse everyone but the challenge's organisers."""
    if not actor.organises(challenge_id):
        raise (Unauthenticated if actor.role == "public" else NotAllowed)("only the challenge's organisers can do this")


def require_member(actor: Actor, challenge_id: int) -> int:
    """Return the actor's team in this challenge; refuse everyone else."""
    if actor.role == "public":
        raise Unauthenticated("a team member's token is required")
    if actor.role != "participant" or actor.challenge_id != challenge_id or actor.team_id is None:
        raise NotAllowed("only members of a team in this challenge can do this")
    return actor.team_id


def require_team(actor: Actor, challenge_id: int, team_id: int) -> None:
    """Refuse everyone but the team's members and the organisers; other participants get NotFound."""
    if not (actor.plays(team_id) or actor.organises(challenge_id)):
        if actor.role == "public":
            raise Unauthenticated("a team member's token is required")
        raise NotFound("no such team")
