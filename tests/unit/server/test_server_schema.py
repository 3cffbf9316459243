"""Requests made up from the API's own description, by the thousand: none may end in an error of the server."""

import os
from collections import Counter
from collections.abc import Iterator

import httpx
import hypothesis
import pytest

from kits.challenge_site import bearer, prepare
from kits.server_process import running_server

schemathesis = pytest.importorskip("schemathesis", reason="no schemathesis: pip install schemathesis")

EXAMPLES = int(os.environ.get("EMOSCOPE_SCHEMA_EXAMPLES", "12"))
# Names have rules that no pattern can say; this is how the description's format is spelt.
schemathesis.openapi.format(
    "display-name", hypothesis.strategies.from_regex(r"[A-Za-z0-9][A-Za-z0-9 .&]{0,40}", fullmatch=True)
)
_CHECKS = ("status_code_conformance", "content_type_conformance", "response_schema_conformance")
SLUG, PHASE = {"slug": "mine"}, {"slug": "mine", "phase": "practice"}


@pytest.fixture(scope="module")
def organiser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A running server, and the token of somebody who may do everything in its challenge."""
    folder = tmp_path_factory.mktemp("server")
    token = prepare(folder)
    with running_server(folder, EMOSCOPE_MAIL_URL="console:", EMOSCOPE_MAILS_PER_ADDRESS="10000") as server:
        yield server.url, token


@pytest.mark.slow
def test_no_request_ends_in_a_server_error(organiser: tuple[str, str]) -> None:
    address, token = organiser
    operations = [found.ok() for found in schemathesis.openapi.from_url(f"{address}/openapi.json").get_all_operations()]
    assert len(operations) > 30
    from schemathesis.specs.openapi import checks

    conforms = [getattr(checks, name) for name in _CHECKS]
    statuses: Counter[int] = Counter()
    whose: list[dict[str, str]] = [bearer(token), {}, {}]
    for number, operation in enumerate(operations):
        # An organiser may have deleted the challenge, or closed its registration.
        at, olga = f"{address}/v1/challenges/mine", bearer(token)
        assert httpx.post(f"{at}/restore", headers=olga).status_code == 204
        assert httpx.patch(at, json={"registration": "open", "max_teams": 9000}, headers=olga).status_code == 200
        # In turn an organiser, a member of a team of this operation's own, and nobody.
        member = httpx.post(
            f"{address}/v1/challenges/mine/teams", json={"team": f"Team {number}", "member": "Ana"}
        ).json()["token"]
        whose[1] = bearer(member)

        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(
            max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(hypothesis.HealthCheck)
        )
        def try_out(case: "schemathesis.Case") -> None:
            if sum(statuses.values()) % 2:  # every other time something that is there
                case.path_parameters = {
                    **(case.path_parameters or {}),
                    **(PHASE if "{phase}" in case.path else SLUG if "{slug}" in case.path else {}),
                }
            if case.path.endswith("/tokens/{token_id}"):  # not the organiser's own, which all that follows needs
                case.path_parameters = {"token_id": 10_000 + sum(statuses.values())}
            answer = case.call(headers=whose[sum(statuses.values()) // 2 % 3])
            statuses[answer.status_code] += 1
            assert answer.status_code < 500, f"{case.as_curl_command()}: {answer.text}"
            case.validate_response(answer, checks=conforms)
            if answer.status_code >= 400:
                assert answer.headers["content-type"] == ["application/problem+json"]
                assert answer.json()["detail"]

        try_out()
    assert statuses[200] > 60  # not everything was refused at the door
