"""Sign-in with any OpenID provider that supports discovery: the authorization code flow with PKCE."""

import logging
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.server.challenge.services.applicants import Identity, clean_email
from emoscope.server.errors import Invalid, StoreUnavailable
from emoscope.server.settings import Settings

SCOPE = "openid email profile"
BACK = "/sign-in/openid/back"  # where the provider sends people back to
# Only signatures with the provider's private key; anyone could sign with a shared secret or none.
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
_SECONDS = 10
_KEEP_SECONDS = 3600
_log = logging.getLogger("emoscope.server")


@dataclass(frozen=True, slots=True)
class Journey:
    """What must be known when a person comes back from the provider."""

    state: str
    nonce: str
    verifier: str
    slug: str  # the challenge they came from


@dataclass(slots=True)
class Provider:
    """An OpenID provider, as its discovery document describes it."""

    issuer: str
    client_id: str
    client_secret: str | None
    name: str
    _known: tuple[float, dict[str, Any], Any] | None = field(default=None, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> "Provider | None":
        """The provider in the settings, if there is one."""
        if settings.oidc_issuer is None or settings.oidc_client_id is None:
            return None
        require("authlib", extra="oidc")
        secret = settings.oidc_client_secret
        return cls(settings.oidc_issuer.rstrip("/"), settings.oidc_client_id, secret, settings.oidc_name)

    def begin(self, back: str, slug: str) -> tuple[str, Journey]:
        """The URL to send a person to, and what to remember until they come back to `back`."""
        journey = Journey(secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48), slug)
        with self._client(back) as client:
            address, _ = client.create_authorization_url(
                self._discovered()[0]["authorization_endpoint"],
                state=journey.state,
                nonce=journey.nonce,
                code_verifier=journey.verifier,
            )
        return str(address), journey

    def finish(self, back: str, journey: Journey, code: str) -> Identity:
        """The identity behind a code; refuses what the provider did not sign for us and for this sign-in."""
        import requests
        from authlib.common.errors import AuthlibBaseError
        from joserfc import jwt
        from joserfc.errors import JoseError

        document, keys = self._discovered()
        try:
            with self._client(back) as client:
                token = client.fetch_token(document["token_endpoint"], code=code, code_verifier=journey.verifier)
                claims = jwt.decode(token["id_token"], keys, algorithms=_ALGORITHMS).claims
                jwt.JWTClaimsRegistry(
                    leeway=60,
                    iss={"essential": True, "value": document["issuer"]},
                    aud={"essential": True, "value": self.client_id},
                    exp={"essential": True},
                    sub={"essential": True},
                    nonce={"essential": True, "value": journey.nonce},
                ).validate(claims)
                if "email" not in claims and "userinfo_endpoint" in document:
                    more = _json(client.get(document["userinfo_endpoint"]))
                    if more.get("sub") == claims["sub"]:
                        claims = {**more, **claims}
        except (AuthlibBaseError, JoseError, requests.RequestException, KeyError, ValueError) as error:
            _log.warning("sign-in with %s failed: %s: %s", self.issuer, type(error).__name__, error)
            raise Invalid(f"{self.name} did not confirm who you are; try again") from None
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Identity(
            f"{document['issuer']}|{claims['sub']}"[:400], clean_email(email), str(claims.get("name") or "")
        )

    def _client(self, back: str) -> Any:
        from authlib.integrations.requests_client import OAuth2Session

        method = "client_secret_basic" if self.client_secret else "none"
        return OAuth2Session(
            self.client_id,
            self.client_secret,
            token_endpoint_auth_method=method,
            scope=SCOPE,
            redirect_uri=back,
            code_challenge_method="S256",
            default_timeout=_SECONDS,
        )

    def discover(self) -> tuple[dict[str, Any], Any]:
        """Fetch the provider's configuration and keys; an `EmoscopeError` says why it cannot be used."""
        import requests
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            place = f"{self.issuer}/.well-known/openid-configuration"
            document = _json(requests.get(place, timeout=_SECONDS))
            if missing := {"issuer", "authorization_endpoint", "token_endpoint", "jwks_uri"} - set(document):
                raise ValueError(f"its configuration has no {', '.join(sorted(missing))}")
            if str(document["issuer"]).rstrip("/") != self.issuer:
                raise ValueError(f"it calls itself {document['issuer']!r}")
            return document, KeySet.import_key_set(_json(requests.get(document["jwks_uri"], timeout=_SECONDS)))
        except (requests.RequestException, JoseError, KeyError, TypeError, ValueError) as error:
            raise EmoscopeError(f"the OpenID provider {self.issuer} cannot be used: {error}") from error

    def _discovered(self) -> tuple[dict[str, Any], Any]:
        """The provider's configuration and keys, refreshed every hour."""
        with self._lock:
            if self._known is None or time.monotonic() - self._known[0] > _KEEP_SECONDS:
                try:
                    self._known = (time.monotonic(), *self.discover())
                except EmoscopeError as error:
                    _log.error("%s", error)
                    raise StoreUnavailable(f"{self.name} cannot be reached; sign in with your token") from None
            return self._known[1], self._known[2]


def _json(response: Any) -> Any:
    response.raise_for_status()
    return response.json()
