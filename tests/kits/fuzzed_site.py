"""A running server whose challenge has one of everything the API names, put back in order before each operation."""

import re
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from emoscope.server.challenge.services.actor import OPERATOR
from emoscope.server.challenge.services.tokens import issue_organiser_token
from emoscope.server.store import Store
from kits.challenge_kit import GOLD, answer, phase, rows_of
from kits.challenge_site import OPENED, PHASES, bearer, prepare

ROLES = ("organiser", "team", "nobody")
LINK = re.compile(r"/((?:con|rec)_[A-Za-z0-9_-]+)")
# Its labels are given out, so its items are its own.
_PAST = phase(
    "past", opens=OPENED, closes=datetime(2021, 1, 1), unlabelled="old.txt", gold="old-gold.txt", labels="closed"
)
_HEAD = 'survey = "emocontext"\n[[files]]\nfile = "train.txt"\n'


class FuzzedSite:
    """The server, and fresh tokens and ids for the next operation."""

    def __init__(self, url: str, log: Path, keeper: str) -> None:
        self.url, self._log = url, log
        self._client = httpx.Client(base_url=url, timeout=60)
        self._keeper = bearer(keeper)  # never used for a generated request, so no such request can revoke it
        self._number = count()

    @staticmethod
    def prepare(folder: Path) -> str:
        """A data folder with the challenge `mine`; the token of somebody who organises everything."""
        source = folder / "source"
        source.mkdir(parents=True)
        (source / "train.txt").write_text(rows_of(GOLD).replace("hello", "good morning"))
        (source / "old.txt").write_text(rows_of(None).replace("hello", "bye"))
        (source / "old-gold.txt").write_text(rows_of(GOLD).replace("hello", "bye"))
        prepare(folder, phases=PHASES + _PAST, head=_HEAD)
        store = Store.open(folder, None)
        try:
            return issue_organiser_token(store, OPERATOR, name="Keeper").token
        finally:
            store.close()

    def call(self, method: str, path: str, token: dict[str, str] | None = None, **body: Any) -> Any:
        """What the keeper, or another caller, is answered; an error fails the test."""
        headers = self._keeper if token is None else token
        response = self._client.request(method, path, headers=headers, **body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json() if response.content else None

    def close(self) -> None:
        """Close the connection to the server."""
        self._client.close()

    def tidy(self) -> None:
        """Undo what the operation before may have done to the challenge."""
        self.call("POST", "/v1/challenges/mine/restore")
        self.call("PATCH", "/v1/challenges/mine", json={"registration": "open", "max_teams": 9000})
        times = {"opens": OPENED.isoformat(), "clear": ["closes"]}
        self.call("PUT", "/v1/challenges/mine/phases/practice/schedule", json=times)

    def member(self, email: str | None = None) -> dict[str, Any]:
        """The first member of a new team."""
        body = {"team": f"Team {next(self._number)}", "member": "Ana", "email": email}
        made: dict[str, Any] = self.call("POST", "/v1/challenges/mine/teams", {}, json=body)
        return made

    def token(self, role: str, member: dict[str, Any]) -> dict[str, str]:
        """A new token of the role, as a header."""
        if role == "organiser":
            return bearer(self.call("POST", "/v1/organisers", json={"name": "Olga"})["token"])
        return bearer(member["token"]) if role == "team" else {}

    def path_parameters(self, path: str, member: dict[str, Any]) -> dict[str, Any]:
        """Things that exist, for the parameters of a path, in the state that its operation expects."""
        mine, team = bearer(member["token"]), member["team"]
        parameters: dict[str, Any] = {
            "slug": "mine",
            "phase": "past" if path.endswith("/labels") else "practice",
            "name": "train.txt",
            "team_id": team["id"],
            "member_id": member["member"]["id"],
        }
        if path.endswith("/reinstate"):
            reason = {"reason": "two accounts of one person"}
            self.call("POST", f"/v1/challenges/mine/teams/{team['id']}/disqualify", json=reason)
        if path.endswith("/report"):
            self.call("PUT", "/v1/challenges/mine/report", mine, json={"answers": {}, "summary": "A linear model."})
        if path.endswith("/open"):
            self.call("POST", "/v1/challenges/mine/phases/practice/close")
        if "{merge_id}" in path:
            offer = {"team": team["name"]}
            other = bearer(self.member()["token"])
            parameters["merge_id"] = self.call("POST", "/v1/challenges/mine/merges", other, json=offer)["id"]
        if "{notice_id}" in path:
            notice = {"title": "One day more", "text": "Until Sunday."}
            parameters["notice_id"] = self.call("POST", "/v1/challenges/mine/notices", json=notice)["id"]
        if "{submission}" in path:
            sent = {"files": {"file": ("mine.txt", answer(6).getvalue())}, "data": {"phase": "practice"}}
            parameters["submission"] = self.call("POST", "/v1/challenges/mine/submissions", mine, **sent)["id"]
        if "{token_id}" in path:  # a spare one, not the one that the requests are made with
            issued = self.call("POST", "/v1/challenges/mine/tokens", mine)
            parameters["token_id"] = issued["id"]
        return {name: value for name, value in parameters.items() if f"{{{name}}}" in path}

    def mailed_link(self) -> str:
        """What the last mailed link ends with."""
        return LINK.findall(self._log.read_text())[-1]

    def body(self, operation: str) -> dict[str, Any] | None:
        """A body that only works once, or for something that exists."""
        if operation == "POST /v1/registrations":
            self.call("PATCH", "/v1/challenges/mine", json={"registration": "email"})
            name = f"Team {next(self._number)}"
            body = {"team": name, "member": "Ana", "email": f"{name[5:]}@example.org"}
            self.call("POST", "/v1/challenges/mine/teams", {}, json=body)
            return {"link": self.mailed_link()}
        if operation == "POST /v1/recoveries":
            address = f"lost{next(self._number)}@example.org"
            self.member(address)
            self.call("POST", "/v1/challenges/mine/recovery", {}, json={"email": address})
            return {"link": self.mailed_link()}
        if operation == "POST /v1/invitations/join":
            invitation = self.call("POST", "/v1/challenges/mine/invitations", bearer(self.member()["token"]))
            return {"invitation": invitation["token"], "member": "Ben"}
        if operation == "POST /v1/challenges/{slug}/merges":
            return {"team": self.member()["team"]["name"]}
        if operation == "PUT /v1/challenges/{slug}/report":
            return {"answers": {}, "summary": "A linear model."}
        return None

    def form(self, operation: str) -> dict[str, Any] | None:
        """A form whose files the server accepts."""
        if operation == "POST /v1/challenges":
            definition = f'slug = "c{next(self._number)}"\ntitle = "Other"\ntask = "emocontext"\n' + phase("practice")
            files = [("files", ("given.txt", rows_of(None))), ("files", ("gold.txt", rows_of(GOLD)))]
            return {"files": [("definition", ("other.toml", definition)), *files]}
        if operation == "POST /v1/challenges/{slug}/submissions":
            return {"files": {"file": ("mine.txt", answer(5).getvalue())}, "data": {"phase": "practice"}}
        if operation == "PUT /v1/challenges/{slug}/phases/{phase}/gold":
            return {"files": {"file": ("gold.txt", rows_of([*GOLD[1:], GOLD[0]]))}}
        return None
