"""Registration by e-mail and by invitation, and recovery of lost tokens."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict, dataclass

from sqlalchemy import select, update

from emoscope.server.challenge.services.actor import PUBLIC, Actor
from emoscope.server.challenge.services.applicants import Applicant, Identity, clean_email, email_key
from emoscope.server.challenge.services.audit import record
from emoscope.server.challenge.services.lookup import (
    changing,
    organising,
    reading,
    require_not_deleted,
    require_running,
)
from emoscope.server.challenge.services.teams import add_team, check_one_team, check_team_name, register_team, team_view
from emoscope.server.challenge.services.tokens import LASTS, add_member_token, make_link, use_link
from emoscope.server.challenge.views import Issued, MailSent, MemberView, Registered
from emoscope.server.errors import Conflict, Invalid, NotAllowed, NotFound, StoreUnavailable
from emoscope.server.mail import Mailer
from emoscope.server.store import Store
from emoscope.server.store.models import Challenge, Member, Team, Token
from emoscope.server.store.names import clean_name

_NO_MAIL = "this server sends no e-mail; ask the organisers"


@dataclass(frozen=True, slots=True)
class Post:
    """How links are mailed: the mailer, and the server's public address."""

    mailer: Mailer | None
    base: str

    def admit(self, to: str) -> AbstractContextManager[None]:  # noqa: ARG002
        """Check whether this address may be sent another mail."""
        return nullcontext()

    def send(self, to: str, subject: str, *lines: str) -> None:
        """Send a mail with these paragraphs."""
        if self.mailer is None:
            raise NotAllowed(_NO_MAIL)
        self.mailer.send(to, subject, "\n\n".join(lines) + "\n")

    def try_to_send(self, to: str, subject: str, *lines: str) -> None:
        """Send a mail after the response; a failure is only logged."""
        with suppress(StoreUnavailable):
            self.send(to, subject, *lines)


def register(
    store: Store,
    actor: Actor,
    slug: str,
    post: Post,
    *,
    team: str,
    member: str,
    email: str | None = None,
    invitation: str | None = None,
    identity: Identity | None = None,
) -> Registered | MailSent:
    """Register a team, or where the challenge requires a verified address, mail the link that does.

    Only the mail says that an address is already on a team: the response would reveal it to anyone.
    """
    name, person = clean_name(team, "team"), Applicant.of(member, email, identity)
    with reading(store, actor, slug) as (session, challenge):
        by_mail = challenge.registration == "email" and not (person.verified or actor.organises(challenge.id))
    if not by_mail:
        return register_team(
            store, actor, slug, team=team, member=member, email=email, invitation=invitation, identity=identity
        )
    if post.mailer is None:
        raise NotAllowed(_NO_MAIL)
    if person.email is None:
        raise Invalid("an e-mail address is required; we send a confirmation link to it", field="email")
    with post.admit(person.email), changing(store, actor, slug) as (session, challenge):
        require_running(challenge, store.clock())
        check_team_name(session, challenge, name)
        try:
            check_one_team(session, challenge, person)
        except Conflict as refused:
            lines = [
                f"It was not registered: {refused}.",
                f"If you have lost your token, get a new one: {post.base}/recover",
            ]
        else:
            payload = {"team": name, "person": asdict(person)}
            secret, _ = make_link(session, store, "confirm", challenge.id, payload=payload)
            lines = [
                f"To confirm, open this link and press the button:\n{post.base}/confirm/{secret}",
                "The link works once and expires after a day. If this was not you, ignore this e-mail.",
            ]
    asked = f"Someone, probably you, asked to register the team {name} for {challenge.title}."
    post.send(person.email, f"Register {name} for {challenge.title}", asked, *lines)
    return MailSent(sent_to=person.email, expires=store.clock() + LASTS["confirm"])


def confirm(store: Store, actor: Actor, secret: str) -> Registered:
    """Register the team of a mailed link, which verifies the address."""
    del actor  # whoever holds the link has read the mail
    with store.database.write() as session:
        row = use_link(session, store, "confirm", secret)
        challenge = session.get_one(Challenge, row.challenge_id)
        if challenge.deleted_at is not None:
            raise NotFound("the challenge no longer exists")
        person = Applicant(**{**row.payload["person"], "verified": True})
        return add_team(session, store, PUBLIC, challenge, row.payload["team"], person)


def invite_team(store: Store, actor: Actor, slug: str, post: Post, email: str | None = None) -> Issued:
    """Create an invitation for one team; with an address it is mailed, and using it verifies the address."""
    address = clean_email(email)
    with organising(store, actor, slug) as (session, challenge):
        require_not_deleted(challenge)
        payload = {} if address is None else {"email": address}
        secret, row = make_link(session, store, "register", challenge.id, payload=payload)
        record(session, store, actor, "team.invitation", slug, challenge_id=challenge.id, invitation=row.id)
    if address is not None:
        post.send(
            address,
            f"Invitation to {challenge.title}",
            f"You are invited to register a team for {challenge.title}.",
            f"Open {post.base}/challenges/{slug} and enter this invitation:\n{secret}",
            f"It is valid for one team and expires after {LASTS['register'].days} days.",
        )
    return Issued(id=row.id, token=secret, expires=row.expires_at)


def send_recovery(store: Store, actor: Actor, slug: str, post: Post, email: str, later: Callable[..., object]) -> None:
    """Mail a link for a new token to the member with this address, without revealing whether there is one.

    `later` defers mailing until after the response, whose time would reveal it.
    """
    if post.mailer is None:
        raise NotAllowed(_NO_MAIL)
    address = clean_email(email)
    if address is None:
        raise Invalid("the e-mail address is missing", field="email")
    with post.admit(address), changing(store, actor, slug) as (session, challenge):
        members = select(Member).join(Team, Member.team_id == Team.id).where(Team.challenge_id == challenge.id)
        members = members.where(Team.deleted_at.is_(None), Member.email.is_not(None))
        links = []
        for member in session.scalars(members).all():
            if email_key(str(member.email)) == email_key(address):
                secret, _ = make_link(session, store, "recover", challenge.id, member_id=member.id)
                links.append((str(member.email), member.team.name, secret))
    for to, team, secret in links:
        later(
            post.try_to_send,
            to,
            f"New token for {challenge.title}",
            f"Someone, probably you, asked for a new token for the team {team} in {challenge.title}.",
            f"To get it, open this link and press the button:\n{post.base}/recover/{secret}",
            "The link works once and expires after two hours. If this was not you, ignore this e-mail.",
        )


def recover(store: Store, actor: Actor, secret: str, *, revoke: bool = True) -> Registered:
    """Create a new token for the member of a mailed link, and revoke the old ones by default."""
    del actor
    with store.database.write() as session:
        row = use_link(session, store, "recover", secret)
        member = session.get_one(Member, row.member_id)
        team = member.team
        if team.deleted_at is not None or team.challenge.deleted_at is not None:
            raise NotFound("the team no longer exists")
        now = store.clock()
        if revoke:
            old = (Token.member_id == member.id, Token.revoked_at.is_(None))
            session.execute(update(Token).where(*old).values(revoked_at=now))
        member.verified_at = member.verified_at or now
        secret = add_member_token(session, store, member, team.challenge_id).token
        record(session, store, "mail", "token.recover", f"member {member.id}", challenge_id=team.challenge_id)
        shown = MemberView.of(member, joined=member.created_at)
        return Registered(team=team_view(session, team), member=shown, token=secret)


def token_of(store: Store, identity: Identity, slug: str, provider: str) -> int | None:
    """The id of the token for a member who signs in with a provider: in this challenge, or else the newest membership.

    A member who has not used the provider before is found by their address, if it is verified on both sides. The token
    is for the browser's session; its secret is never shown.
    """
    with store.database.write() as session:
        members = (
            select(Member).join(Team, Member.team_id == Team.id).join(Challenge, Team.challenge_id == Challenge.id)
        )
        members = members.where(Team.deleted_at.is_(None), Challenge.deleted_at.is_(None)).order_by(Member.id.desc())
        own = session.scalars(members.where(Member.subject == identity.subject)).all()
        if identity.email is not None:
            unbound = session.scalars(members.where(Member.subject.is_(None), Member.verified_at.is_not(None)))
            own = [*own, *(member for member in unbound if email_key(str(member.email)) == email_key(identity.email))]
        in_challenge = (member for member in own if not slug or member.team.challenge.slug == slug)
        if (member := next(in_challenge, None)) is None:
            return None
        member.subject = identity.subject
        name = f"sign-in with {provider}"[:64]
        valid = (Token.member_id == member.id, Token.name == name, Token.revoked_at.is_(None))
        token = session.scalar(select(Token.id).where(*valid).limit(1))
        if token is None:
            challenge_id = member.team.challenge_id
            token = add_member_token(session, store, member, challenge_id, name=name).id
            record(session, store, "sign-in", "token.issue", f"member {member.id}", challenge_id=challenge_id)
        return token
