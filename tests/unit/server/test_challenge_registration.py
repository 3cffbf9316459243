"""Who may register and how often: by mail, by invitation, by approval, and once."""

import contextlib
import importlib.util
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from email.message import Message
from email.policy import default as email_policy
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.services.actor import OPERATOR, PUBLIC
from emoscope.server.challenge.services.applicants import Identity
from emoscope.server.challenge.services.challenges import get_challenge
from emoscope.server.challenge.services.registration import Post, confirm, invite_team, recover, register, send_recovery
from emoscope.server.challenge.services.submissions import submit
from emoscope.server.challenge.services.teams import approve_team, invite, join_team, register_team
from emoscope.server.challenge.services.throttle import admitted
from emoscope.server.challenge.services.tokens import authenticate
from emoscope.server.challenge.views import MailSent, Registered
from emoscope.server.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    QuotaExceeded,
    StoreUnavailable,
    Unauthenticated,
)
from emoscope.server.mail import Mailer, MailServer
from emoscope.server.settings import Settings
from emoscope.server.store import Store
from kits.challenge_kit import Clock, answer, made_challenge, phase, team
from kits.challenge_site import Site, bearer, form_secret, opened_site
from kits.server_process import free_port


class Inbox(Mailer):
    """Keeps what it should send."""

    __slots__ = ("mails",)

    def __init__(self) -> None:
        super().__init__(MailServer("console", "", 0, None, None), "emoscope@example.org")
        object.__setattr__(self, "mails", [])

    def send(self, to: str, subject: str, text: str) -> None:
        self.mails.append((to, subject, text))  # type: ignore[attr-defined]

    def secret(self) -> str:
        """The secret of the last mail's link."""
        found = re.search(r"(?:con|rec|reg)_[A-Za-z0-9_-]+", self.mails[-1][2])  # type: ignore[attr-defined]
        assert found is not None
        return found[0]


def at_once(function: Callable[..., None], *arguments: str) -> None:
    function(*arguments)


@pytest.fixture
def inbox() -> Inbox:
    return Inbox()


@pytest.fixture
def post(inbox: Inbox) -> Post:
    return Post(inbox, "https://emoscope.example")


def test_a_verified_address_registers_by_the_mailed_link_once(
    store: Store, clock: Clock, tmp_path: Path, post: Post, inbox: Inbox
) -> None:
    slug = made_challenge(store, tmp_path, head='registration = "email"')
    with pytest.raises(NotAllowed, match="must be verified"):
        register_team(store, PUBLIC, slug, team="Aurora", member="Ana", email="ana@example.org")
    with pytest.raises(Invalid, match="e-mail address is required"):
        register(store, PUBLIC, slug, post, team="Aurora", member="Ana")
    sent = register(store, PUBLIC, slug, post, team="Aurora", member="Ana", email="ana@example.org")
    assert isinstance(sent, MailSent)
    assert get_challenge(store, PUBLIC, slug).teams == 0
    assert "https://emoscope.example/confirm/con_" in inbox.mails[0][2]  # type: ignore[attr-defined]
    made = confirm(store, PUBLIC, inbox.secret())
    assert (made.team.name, made.member.verified) == ("Aurora", True)
    with pytest.raises(NotFound, match="unknown, already used or expired"):
        confirm(store, PUBLIC, inbox.secret())
    register(store, PUBLIC, slug, post, team="Late", member="Lea", email="lea@example.org")
    clock.forward(hours=25)
    with pytest.raises(NotFound):
        confirm(store, PUBLIC, inbox.secret())
    with pytest.raises(NotAllowed, match="sends no e-mail"):
        register(store, PUBLIC, slug, Post(None, ""), team="Other", member="Oz", email="oz@example.org")
    known = Identity("https://login.example|1", "max@example.org", "Max")
    assert isinstance(register(store, PUBLIC, slug, post, team="Known", member="Max", identity=known), Registered)


def test_only_the_mail_reveals_that_an_address_is_in_a_team(
    store: Store, clock: Clock, tmp_path: Path, post: Post, inbox: Inbox
) -> None:
    slug = made_challenge(store, tmp_path, head='registration = "email"')
    register(store, PUBLIC, slug, post, team="Aurora", member="Ana", email="ana@example.org")
    confirm(store, PUBLIC, inbox.secret())
    for address in ("ana+2@example.org", "new@example.org"):
        sent = register(store, PUBLIC, slug, post, team=f"Second {address[:3]}", member="Ana", email=address)
        assert sent == MailSent(sent_to=address, expires=clock.now + timedelta(days=1))
    (_, _, refused), (_, _, link) = inbox.mails[-2:]  # type: ignore[attr-defined]
    assert "It was not registered: this e-mail address is already on a team in this challenge." in refused
    assert "https://emoscope.example/recover" in refused
    assert "con_" not in refused
    assert "/confirm/con_" in link


def test_how_long_an_answer_takes_does_not_tell_whether_an_address_is_known(
    store: Store, tmp_path: Path, post: Post, inbox: Inbox
) -> None:
    slug = made_challenge(store, tmp_path)
    register_team(store, PUBLIC, slug, team="Aurora", member="Ana", email="ana@example.org")
    waiting: list[tuple[Callable[..., None], tuple[str, ...]]] = []
    send_recovery(store, PUBLIC, slug, post, "ana@example.org", lambda send, *mail: waiting.append((send, mail)))
    assert inbox.mails == []  # type: ignore[attr-defined]
    ((send, mail),) = waiting
    send(*mail)
    assert inbox.mails[0][0] == "ana@example.org"  # type: ignore[attr-defined]
    (tmp_path / "site").mkdir()
    with _client(tmp_path / "site", mail_url="smtp+plain://127.0.0.1:9") as site:  # nobody listens there
        body = {"team": "Aurora", "member": "Ana", "email": "ana@example.org"}
        assert site.client.post("/v1/challenges/mine/teams", json=body).status_code == 201
        for address in ("ana@example.org", "nobody@example.org"):
            asked = site.client.post("/v1/challenges/mine/recovery", json={"email": address})
            assert (asked.status_code, asked.json()["detail"][:11]) == (202, "if a member")


def test_one_person_is_in_one_team(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path)
    first = register_team(store, PUBLIC, slug, team="First", member="Ana", email="ana@example.org")
    for same in ("ana@example.org", "ANA@Example.org", "ana+second@example.org"):
        with pytest.raises(Conflict, match="already on a team") as refused:
            register_team(store, PUBLIC, slug, team="Second", member="Ana", email=same)
        assert refused.value.field == "email"
    ben, _ = team(store, slug, "Third", "Ben")
    invitation = invite(store, ben, slug).token
    with pytest.raises(Conflict, match="already on a team"):
        join_team(store, PUBLIC, invitation, member="Ana", email="ana@example.org")
    assert join_team(store, PUBLIC, invitation, member="Ada", email="ada@example.org").member.name == "Ada"
    assert first.team.members[0].email == "ana@example.org"


def test_a_team_that_waits_for_approval_cannot_submit(store: Store, tmp_path: Path) -> None:
    slug = made_challenge(store, tmp_path, head='registration = "approval"\nmax_teams = 1')
    with pytest.raises(Invalid, match="e-mail address is required"):
        register_team(store, PUBLIC, slug, team="Aurora", member="Ana")
    made = register_team(store, PUBLIC, slug, team="Aurora", member="Ana", email="ana@example.org")
    other = register_team(store, PUBLIC, slug, team="Borealis", member="Ben", email="ben@example.org")
    assert not made.team.approved
    ana = authenticate(store, made.token)
    with pytest.raises(NotAllowed, match="waiting for the organisers"):
        submit(store, ana, slug, "practice", answer(), file_name="a.txt")
    with pytest.raises(NotAllowed):
        approve_team(store, ana, slug, made.team.id)
    assert approve_team(store, OPERATOR, slug, made.team.id).approved
    assert submit(store, ana, slug, "practice", answer(), file_name="a.txt").state == "queued"
    with pytest.raises(Conflict, match="is limited to 1 team"):
        approve_team(store, OPERATOR, slug, other.team.id)


def test_registration_by_invitation(store: Store, clock: Clock, tmp_path: Path, post: Post, inbox: Inbox) -> None:
    slug = made_challenge(store, tmp_path, head='registration = "invitation"')
    with pytest.raises(NotAllowed, match="by invitation"):
        register_team(store, PUBLIC, slug, team="Aurora", member="Ana")
    with pytest.raises(Unauthenticated):
        invite_team(store, PUBLIC, slug, post)
    shown = invite_team(store, OPERATOR, slug, post)
    assert inbox.mails == []  # type: ignore[attr-defined]
    with pytest.raises(Invalid):  # a mistake does not use the invitation up
        register_team(store, PUBLIC, slug, team="<b>", member="Ana", invitation=shown.token)
    assert register_team(store, PUBLIC, slug, team="Aurora", member="Ana", invitation=shown.token).member.email is None
    with pytest.raises(NotFound, match="unknown, already used or expired"):
        register_team(store, PUBLIC, slug, team="Again", member="Ana", invitation=shown.token)
    invite_team(store, OPERATOR, slug, post, "ben@example.org")
    made = register_team(store, PUBLIC, slug, team="Borealis", member="Ben", invitation=inbox.secret())
    assert (made.member.email, made.member.verified) == ("ben@example.org", True)


def test_a_lost_token_is_replaced_by_mail(store: Store, clock: Clock, tmp_path: Path, post: Post, inbox: Inbox) -> None:
    slug = made_challenge(store, tmp_path)
    made = register_team(store, PUBLIC, slug, team="Aurora", member="Ana", email="ana@example.org")
    send_recovery(store, PUBLIC, slug, post, "nobody@example.org", at_once)  # told like any other
    assert inbox.mails == []  # type: ignore[attr-defined]
    send_recovery(store, PUBLIC, slug, post, "Ana@example.org", at_once)
    assert inbox.mails[0][0] == "ana@example.org"  # type: ignore[attr-defined]
    secret = inbox.secret()
    found = recover(store, PUBLIC, secret)
    assert authenticate(store, found.token).member_id == made.member.id
    with pytest.raises(Unauthenticated):
        authenticate(store, made.token)
    with pytest.raises(NotFound):
        recover(store, PUBLIC, secret)
    send_recovery(store, PUBLIC, slug, post, "ana@example.org", at_once)
    clock.forward(hours=3)
    with pytest.raises(NotFound):
        recover(store, PUBLIC, inbox.secret())


def test_limits_hold_within_the_hour_and_a_refusal_does_not_count(store: Store, clock: Clock) -> None:
    for _ in range(5):
        with pytest.raises(Invalid), admitted(store, "register", {"192.0.2.1": 2}):
            raise Invalid("a mistake")
    for _ in range(2):
        with admitted(store, "register", {"192.0.2.1": 2}):
            pass
        clock.forward(minutes=20)
    with pytest.raises(QuotaExceeded) as refused, admitted(store, "register", {"192.0.2.1": 2}):
        pass
    assert refused.value.retry_after == 20 * 60 + 1
    with admitted(store, "register", {"192.0.2.2": 2}), admitted(store, "mail", {"192.0.2.1": 2}):
        pass
    clock.forward(minutes=21)
    with admitted(store, "register", {"192.0.2.1": 2}):
        pass


@contextmanager
def _client(folder: Path, head: str = "", **settings: object) -> Iterator[Site]:
    phases = phase("practice", per_day=3)
    with opened_site(folder, phases=phases, head=head, **settings) as site:
        yield site


def test_one_address_cannot_take_every_slot(tmp_path: Path) -> None:
    limits = {"registrations_per_address": 3, "registrations_per_network": 5}
    with _client(tmp_path, "max_teams = 60", **limits) as site:
        app = site.client.app

        def statuses(address: str, count: int, kind: str) -> list[int]:
            client = TestClient(app, client=(address, 1), follow_redirects=False)
            bodies = [{"team": f"{kind} {number}", "member": "Ana"} for number in range(count)]
            return [client.post("/v1/challenges/mine/teams", json=body).status_code for body in bodies]

        assert statuses("192.0.2.7", 5, "Red") == [201, 201, 201, 429, 429]
        assert statuses("192.0.2.8", 4, "Blue") == [201, 201, 429, 429]  # the network's limit
        assert statuses("198.51.100.7", 1, "Green") == [201]
        page = TestClient(app, client=("192.0.2.7", 1), follow_redirects=False)
        secret = form_secret(page.get("/challenges/mine").text)
        form = {"csrf": secret, "team": "Yellow", "member": "Ana"}
        refused = page.post("/challenges/mine/register", data=form)
        assert (refused.status_code, "too many requests" in refused.text.lower()) == (429, True)
        organiser = TestClient(app, client=("192.0.2.7", 1))
        made = organiser.post(
            "/v1/challenges/mine/teams", json={"team": "Guests", "member": "Gus"}, headers=bearer(site.organiser)
        )
        assert made.status_code == 201


class _Kept:
    def __init__(self) -> None:
        self.mails: list[Message] = []

    async def handle_DATA(self, server: object, session: object, envelope: "object") -> str:  # noqa: N802
        from email import message_from_bytes

        self.mails.append(message_from_bytes(envelope.content, policy=email_policy))  # type: ignore[attr-defined]
        return "250 OK"


@pytest.fixture
def smtp() -> Iterator[tuple[str, _Kept]]:
    """A mail server on this machine."""
    controller = pytest.importorskip("aiosmtpd.controller", reason="no aiosmtpd: pip install aiosmtpd")
    kept = _Kept()
    port = free_port()
    running = controller.Controller(kept, hostname="127.0.0.1", port=port)
    running.start()
    try:
        yield f"smtp+plain://127.0.0.1:{port}", kept
    finally:
        running.stop()


def test_register_and_recover_by_pages_and_real_mail(tmp_path: Path, smtp: tuple[str, _Kept]) -> None:
    url, kept = smtp
    settings = {"mail_url": url, "mail_from": "desk@example.org", "mails_per_address": 3}
    with _client(tmp_path, 'registration = "email"', **settings) as site:
        client = site.client
        form = {"csrf": form_secret(client.get("/challenges/mine").text), "team": "Smith & Jones", "member": "Ana"}
        missing = client.post("/challenges/mine/register", data=form)
        assert (missing.status_code, "e-mail address is required" in missing.text) == (422, True)
        sent = client.post("/challenges/mine/register", data={**form, "email": "ana@example.org"})
        assert (sent.status_code, "Check your e-mail" in sent.text) == (202, True)
        mail = kept.mails[0]
        assert (mail["From"], mail["To"]) == ("desk@example.org", "ana@example.org")
        assert mail["Subject"] == "Register Smith & Jones for Mine"
        link = re.search(r"http://testserver(/confirm/\S+)", mail.get_content())  # type: ignore[attr-defined]
        assert link is not None
        page = client.get(link[1])
        assert "Register the team" in page.text  # looking at it does not use it up
        made = client.post(link[1], data={"csrf": form_secret(page.text)})
        assert (made.status_code, "Your token" in made.text) == (201, True)
        assert client.get("/challenges/mine/team").status_code == 200
        client.cookies.clear()
        _offers_nothing(client, link[1])
        page = client.get("/recover").text
        ask = {"csrf": form_secret(page), "challenge": "mine", "email": "ana@example.org"}
        answers = [client.post("/recover", data={**ask, "email": email}) for email in ("ana@example.org", "x@y.org")]
        assert [one.status_code for one in answers] == [200, 200]
        assert client.post("/recover", data=ask).status_code == 429
        link = re.search(r"http://testserver(/recover/\S+)", kept.mails[1].get_content())  # type: ignore[attr-defined]
        assert link is not None
        recovered = client.post(link[1], data={"csrf": form_secret(client.get(link[1]).text)})
        assert (recovered.status_code, "Your token" in recovered.text) == (201, True)
        assert len(kept.mails) == 2
        _offers_nothing(client, link[1])


def _offers_nothing(client: TestClient, link: str) -> None:
    """A link that was used or never existed says so, and has no button to press."""
    kind = link.split("/")[1]
    for path in (link, f"/{kind}/no_such_secret"):
        secret = form_secret(client.get("/sign-in").text)
        for found in (client.get(path), client.post(path, data={"csrf": secret})):
            assert (found.status_code, "is not valid" in found.text) == (404, True), path
            assert f'action="{path}"' not in found.text
            assert ("/recover" if kind == "recover" else "/challenges") in re.findall(r'href="(/\w+)"', found.text)


def test_a_link_is_offered_again_if_only_what_it_asks_for_is_refused(tmp_path: Path, smtp: tuple[str, _Kept]) -> None:
    url, kept = smtp
    with _client(tmp_path, 'registration = "email"', mail_url=url) as site:
        body = {"team": "Aurora", "member": "Ana", "email": "ana@example.org"}
        assert site.client.post("/v1/challenges/mine/teams", json=body).status_code == 202
        link = re.search(r"http://testserver(/confirm/\S+)", kept.mails[0].get_content())  # type: ignore[attr-defined]
        assert link is not None
        taken = {"team": "Aurora", "member": "Olga"}
        assert site.client.post("/v1/challenges/mine/teams", json=taken, headers=bearer(site.organiser)).is_success
        refused = site.client.post(link[1], data={"csrf": form_secret(site.client.get(link[1]).text)})
        assert (refused.status_code, "is taken" in refused.text) == (409, True)
        assert f'action="{link[1]}"' in refused.text


def test_a_used_invitation_is_known_before_it_is_sent(tmp_path: Path) -> None:
    with _client(tmp_path, "") as site:
        client, ana = site.client, bearer(site.team("Inviters"))
        invitation = client.post("/v1/challenges/mine/invitations", headers=ana).json()["token"]
        form = {"csrf": form_secret(client.get("/join").text), "invitation": invitation}
        assert client.post("/join/check", data=form).status_code == 204
        assert client.post("/join", data={**form, "member": "Joe"}).status_code == 201
        client.cookies.clear()
        form["csrf"] = form_secret(client.get("/join").text)
        for wrong in (invitation, "inv_unknown", ""):
            answer = client.post("/join/check", data={**form, "invitation": wrong})
            assert (answer.status_code, "is not valid" in answer.json()["detail"]) == (404, True), wrong


def test_register_and_recover_by_programs(tmp_path: Path, smtp: tuple[str, _Kept]) -> None:
    url, kept = smtp
    with _client(tmp_path, 'registration = "email"', mail_url=url, mails_per_address=3) as site:
        body = {"team": "Aurora", "member": "Ana", "email": "ana@example.org"}
        sent = site.client.post("/v1/challenges/mine/teams", json=body)
        assert (sent.status_code, sent.json()["sent_to"]) == (202, "ana@example.org")
        secret = re.search(r"con_[\w-]+", kept.mails[0].get_content())  # type: ignore[attr-defined]
        assert secret is not None
        made = site.client.post("/v1/registrations", json={"link": secret[0]})
        assert made.status_code == 201
        asked = site.client.post("/v1/challenges/mine/recovery", json={"email": "ana@example.org"})
        assert asked.status_code == 202
        secret = re.search(r"rec_[\w-]+", kept.mails[1].get_content())  # type: ignore[attr-defined]
        assert secret is not None
        new = site.client.post("/v1/recoveries", json={"link": secret[0], "keep": True}).json()["token"]
        for token in (new, made.json()["token"]):
            assert site.client.get("/v1/challenges/mine/team", headers=bearer(token)).status_code == 200
        bodies = [{"team": f"Bomb {number}", "member": "Eve", "email": "v@example.org"} for number in range(2)]
        bombs = [site.client.post("/v1/challenges/mine/teams", json=body).status_code for body in bodies]
        assert bombs == [202, 429]  # mails that one address may have sent


def test_mail_into_the_log_and_a_mail_server_that_is_gone(caplog: pytest.LogCaptureFixture) -> None:
    console = Mailer.of("console:", None)
    assert console is not None
    console.send("ana@example.org", "Hello", "Look: con_x")
    assert "mail to ana@example.org: Hello\nLook: con_x" in caplog.text
    gone = Mailer.of("smtp+plain://127.0.0.1:9", "a@example.org")
    assert gone is not None
    with pytest.raises(StoreUnavailable, match="could not be sent"):
        gone.send("ana@example.org", "Hello", "")
    with pytest.raises(EmoscopeError, match=r"^EMOSCOPE_MAIL_URL: expected smtp://"):
        Settings.from_environment({"EMOSCOPE_MAIL_URL": "mail.example.org"})


@contextmanager
def openid_provider() -> Iterator[str]:
    """A provider in a process of its own; its address."""
    if importlib.util.find_spec("oidc_provider_mock") is None:
        pytest.skip("no provider: pip install oidc-provider-mock")
    port = free_port()
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            for _ in range(300):
                with contextlib.suppress(httpx.TransportError):
                    if httpx.get(f"http://localhost:{port}/.well-known/openid-configuration").status_code == 200:
                        break
                time.sleep(0.1)
            yield f"http://localhost:{port}"
        finally:
            process.terminate()


def test_sign_in_with_a_real_openid_provider(tmp_path: Path) -> None:
    with openid_provider() as issuer:
        for name, verified in (("ana", True), ("eve", False)):
            claims = {"email": f"{name}@example.org", "email_verified": verified, "name": name.title()}
            assert httpx.put(f"{issuer}/users/{name}", json=claims).status_code == 204
        settings = {"oidc_issuer": issuer, "oidc_client_id": "emoscope", "oidc_client_secret": "s", "oidc_name": "Uni"}
        with _client(tmp_path, 'registration = "email"', **settings) as site:

            def signed_in(who: str) -> TestClient:
                client = TestClient(site.client.app, follow_redirects=False)
                assert "Sign in with Uni" in client.get("/challenges/mine").text
                left = client.get("/sign-in/openid?challenge=mine")
                assert left.status_code == 303
                assert "code_challenge_method=S256" in left.headers["location"]
                back = httpx.post(left.headers["location"], data={"sub": who}).headers["location"]
                came = client.get(back)
                assert (came.status_code, came.headers["location"]) == (303, "/challenges/mine")
                assert client.get(back).status_code == 422  # the same answer of the provider works once
                return client

            ana = signed_in("ana")
            page = ana.get("/challenges/mine").text
            assert "ana@example.org, a verified address" in page
            form = {"csrf": form_secret(page), "team": "Aurora", "member": "Ana"}
            assert ana.post("/challenges/mine/register", data=form).status_code == 201
            again = signed_in("ana")  # without any token
            assert "Aurora" in again.get("/challenges/mine/team").text
            page = again.get("/challenges/mine/team").text
            assert "sign-in with Uni" in page
            assert again.post("/sign-out", data={"csrf": form_secret(page)}).status_code == 303
            eve = signed_in("eve")
            page = eve.get("/challenges/mine").text
            assert "counts as verified" not in page
            form = {"csrf": form_secret(page), "team": "Evil", "member": "Eve", "email": "ana@example.org"}
            assert eve.post("/challenges/mine/register", data=form).status_code == 403  # no mail here, no way around it
            stranger = TestClient(site.client.app, follow_redirects=False)
            forged = stranger.get("/sign-in/openid/back?state=x&code=y")
            assert (forged.status_code, "was not completed" in forged.text) == (422, True)
