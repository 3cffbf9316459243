"""Requests generated from the API description, for each role: every response conforms to it."""

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import hypothesis
import pytest
import requests

from kits.fuzzed_site import ROLES, FuzzedSite
from kits.server_process import running_server

schemathesis = pytest.importorskip("schemathesis", reason="no schemathesis: pip install schemathesis")

EXAMPLES = int(os.environ.get("EMOSCOPE_SCHEMA_EXAMPLES", "6"))  # of each operation and role
# Names have rules that no pattern can state; the description refers to them by this format.
schemathesis.openapi.format(
    "display-name", hypothesis.strategies.from_regex(r"[A-Za-z0-9][A-Za-z0-9 .&]{0,40}", fullmatch=True)
)
# What no schema can state, so that a request that keeps to it may still be refused with 422.
UNSTATED = {
    "POST /v1/challenges": "the contents of the files",
    "POST /v1/challenges/{slug}/submissions": "the contents of the file",
    "PUT /v1/challenges/{slug}/phases/{phase}/gold": "the contents of the file",
    "PUT /v1/challenges/{slug}/phases/{phase}/schedule": "a phase closes after it opens",
    "PUT /v1/challenges/{slug}/report": "the questions of the challenge's survey",
}
_ACCEPTED = ["2xx", "3xx", "401", "403", "404", "409", "429", "5xx"]
_SETTINGS = hypothesis.settings(
    max_examples=max(1, EXAMPLES // 3),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FuzzedSite]:
    folder = tmp_path_factory.mktemp("server")
    keeper = FuzzedSite.prepare(folder)
    limits = {"EMOSCOPE_MAILS_PER_ADDRESS": "100000", "EMOSCOPE_EXPLANATIONS_PER_MINUTE": "0"}
    limits |= dict.fromkeys(("EMOSCOPE_REGISTRATIONS_PER_ADDRESS", "EMOSCOPE_REGISTRATIONS_PER_NETWORK"), "100000")
    with (
        running_server(folder, EMOSCOPE_MAIL_URL="console:", **limits) as server,
        closing(FuzzedSite(server.url, folder / "server.log", keeper)) as site,
    ):
        yield site


def _described(url: str) -> Any:
    """The API's description, with what schemathesis is to expect of each operation."""
    unstated = [
        {
            "include-name": name,
            "checks": {"positive_data_acceptance": {"expected-statuses": [*_ACCEPTED, "422"]}},
        }
        for name in UNSTATED
    ]
    config = schemathesis.Config.from_dict({"operations": unstated})
    return schemathesis.openapi.from_url(f"{url}/openapi.json", config=config)


def _fuzz(site: FuzzedSite, operation: Any, role: str) -> int:
    """Send an operation's requests with a token of the role; returns how many were accepted."""
    site.tidy()
    member = site.member()
    token = site.token(role, member)
    existing = site.path_parameters(operation.path, member)
    accepted = 0

    def check(case: "schemathesis.Case", answer: Any) -> None:
        nonlocal accepted
        case.validate_response(answer, headers=token)
        if answer.status_code < 400:
            accepted += 1
            return
        document = answer.json()
        assert document["status"] == answer.status_code
        assert document["detail"]

    @hypothesis.given(case=operation.as_strategy(path_parameters=existing))
    @_SETTINGS
    def existing_things(case: "schemathesis.Case") -> None:
        if (form := site.form(operation.label)) is not None:
            url = site.url + operation.path.format(**existing)
            check(case, requests.request(case.method, url, headers=token, timeout=60, **form))
            return
        if (body := site.body(operation.label)) is not None:
            case.body = body
        check(case, case.call(headers=token))

    @hypothesis.given(case=operation.as_strategy())
    @_SETTINGS
    def anything(case: "schemathesis.Case") -> None:
        check(case, case.call(headers=token))

    @hypothesis.given(case=operation.as_strategy(schemathesis.GenerationMode.NEGATIVE))
    @_SETTINGS
    def mistakes(case: "schemathesis.Case") -> None:
        check(case, case.call(headers=token))

    existing_things()
    anything()
    if operation.body or operation.query or operation.path_parameters:
        mistakes()
    if role == "organiser":  # fails if one of these requests revoked it
        site.call("GET", "/v1/tokens", token)
    return accepted


@pytest.mark.slow
def test_every_answer_keeps_to_the_description(site: FuzzedSite) -> None:
    operations = [found.ok() for found in _described(site.url).get_all_operations()]
    assert len(operations) > 70
    accepted: Counter[str] = Counter()
    failures, unreached = [], []
    for operation in operations:
        before = accepted.total()
        for role in ROLES:
            try:
                accepted[role] += _fuzz(site, operation, role)
            except (Exception, BaseExceptionGroup) as error:
                failures.append(f"{operation.label} as {role}: {error}")
        if accepted.total() == before:
            unreached.append(operation.label)
    assert not failures, "\n\n".join(failures)
    assert not unreached, "no request was accepted"
    assert min(accepted[role] for role in ROLES) > 3 * EXAMPLES, accepted
