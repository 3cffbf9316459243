"""The server's settings: arguments in code, `EMOSCOPE_...` variables for the command."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from emoscope.core.errors import EmoscopeError
from emoscope.server.mail import mail_server


def variable(name: str) -> str:
    """The environment variable for a setting.

    >>> variable("max_turns"), variable("data_dir")
    ('EMOSCOPE_MAX_TURNS', 'EMOSCOPE_SERVER_DATA')
    """
    # EMOSCOPE_DATA is already the folder of the benchmarks.
    return f"EMOSCOPE_{'SERVER_DATA' if name == 'data_dir' else name.upper()}"


class Limits(BaseModel):
    """How much a client may ask for at once; `GET /v1/models` tells them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_body_bytes: int = Field(1 << 20, ge=1024, description="Bytes of a request's body")
    max_turns: int = Field(200, ge=1, description="Turns of a dialogue")
    max_characters: int = Field(20_000, ge=1, description="Characters of a turn")
    max_dialogues: int = Field(256, ge=1, description="Dialogues of a batch")
    max_upload_bytes: int = Field(
        (16 << 20) + (64 << 10), ge=1024, description="Bytes of an upload, with what is around the file"
    )


class Settings(BaseModel):
    """The server's settings.

    >>> Settings(model="nano").limits.max_turns
    200
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field("default", description="An embedded model, or the folder of one")
    data_dir: Path = Field(Path("emoscope-data"), description="Where the embedded database and uploads live")
    database_url: str | None = Field(None, description="Another database than the embedded SQLite file")
    limits: Limits = Limits()
    queue_dialogues: int = Field(2048, ge=1, description="Dialogues that may wait; beyond, requests get 429")
    batch_dialogues: int = Field(64, ge=1, description="Dialogues the model is given at once")
    deadline_seconds: float = Field(10.0, gt=0, description="How long a detection may take, waiting included")
    explain_deadline_seconds: float = Field(30.0, gt=0, description="The same for an explanation")
    explain_queue: int = Field(16, ge=1, description="Explanations that may wait")
    explain_per_client: int = Field(2, ge=1, description="Explanations made for one client at a time")
    explain_evaluations: int = Field(2000, ge=64, description="Readings of the model an explanation may take")
    explanations_per_minute: int = Field(60, ge=0, description="Explanations a client may have a minute; 0: any number")
    dialogues_per_minute: int = Field(0, ge=0, description="Dialogues a client may have judged; 0: any number")
    api_keys: Literal["optional", "required"] = Field("optional", description="Whether detection needs an API key")
    receive_seconds: float = Field(30.0, gt=0, description="How long a client may pause while sending its body")
    header_seconds: float = Field(10.0, gt=0, description="How long a client may take to send a request's header")
    max_connections: int = Field(1000, ge=1, description="Connections a server process holds at once")
    allowed_hosts: str = Field("", description="Names beside that of public_url, with commas; *: any")
    log_format: Literal["text", "json"] = Field("text", description="Lines for people, or JSON for machines")
    public_url: str | None = Field(None, description="The address people use, for links; https makes cookies secure")
    mail_url: str | None = Field(
        None, description="smtp://USER:PASSWORD@HOST:587, smtps://..., or console: to log mail"
    )
    mail_from: str | None = Field(None, description="The sender of mail; the user of mail_url if none")
    registrations_per_address: int = Field(10, ge=1, description="Teams and members an address may register an hour")
    registrations_per_network: int = Field(50, ge=1, description="The same for its network: /24, or /48 of IPv6")
    mails_per_address: int = Field(10, ge=1, description="Mails an address may have sent an hour, and get")
    oidc_issuer: str | None = Field(None, description="The address of an OpenID provider people may sign in with")
    oidc_client_id: str | None = Field(None, description="This server's name at the provider")
    oidc_client_secret: str | None = Field(None, description="And its secret, if it has one")
    oidc_name: str = Field("OpenID", description="What people call the provider")

    @field_validator("public_url", "oidc_issuer")
    @classmethod
    def _is_web_address(cls, url: str | None) -> str | None:
        if url and (urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname):
            raise ValueError(f"expected an address such as https://emoscope.example.org, found {url!r}")
        return url

    @field_validator("mail_url")
    @classmethod
    def _is_mail_server(cls, url: str | None) -> str | None:
        mail_server(url)
        return url

    @model_validator(mode="after")
    def _fits(self) -> "Settings":
        largest = max(self.limits.max_turns, self.limits.max_dialogues)
        if self.queue_dialogues < largest:
            raise ValueError(
                f"{variable('queue_dialogues')} must be at least {largest}, or the largest request never fits"
            )
        if (self.oidc_issuer is None) != (self.oidc_client_id is None):
            raise ValueError(f"set both {variable('oidc_issuer')} and {variable('oidc_client_id')}, or neither")
        return self

    @property
    def https(self) -> bool:
        """Whether the public address is HTTPS."""
        return (self.public_url or "").startswith("https://")

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, given: Mapping[str, Any] | None = None
    ) -> "Settings":
        """Settings from `EMOSCOPE_...` variables; `given` values win.

        >>> Settings.from_environment({"EMOSCOPE_MAX_TURNS": "50"}).limits.max_turns
        50
        """
        variables = os.environ if environment is None else environment

        def from_variables(fields: Iterable[str]) -> dict[str, Any]:
            return {name: variables[key] for name in fields if (key := variable(name)) in variables}

        values = from_variables(name for name in cls.model_fields if name != "limits")
        values |= {name: value for name, value in (given or {}).items() if value is not None}
        values.setdefault("limits", from_variables(Limits.model_fields))
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name = str(first["loc"][-1]) if first["loc"] else ""
            where = f"{variable(name)}: " if name else ""
            raise EmoscopeError(f"{where}{first['msg'].removeprefix('Value error, ')}") from None
