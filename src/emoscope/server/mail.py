"""Mail: plain text through an SMTP server, or into the log for development."""

import logging
import smtplib
import ssl
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from emoscope.server.errors import StoreUnavailable

_log = logging.getLogger("emoscope.server")
_SECONDS = 20
_PORTS = {"smtp": 587, "smtps": 465, "smtp+plain": 25}


class MailServer(NamedTuple):
    """A mail server: `smtp` uses STARTTLS, `smtps` TLS from the start, `smtp+plain` neither."""

    kind: Literal["smtp", "smtps", "smtp+plain", "console"]
    host: str
    port: int
    user: str | None
    password: str | None


def mail_server(url: str | None) -> MailServer | None:
    """Parse the address of a mail server.

    >>> mail_server("smtp://me:secret@mail.example.org")
    MailServer(kind='smtp', host='mail.example.org', port=587, user='me', password='secret')
    >>> mail_server("console:").kind
    'console'
    """
    if not url:
        return None
    if url.rstrip(":/") == "console":
        return MailServer("console", "", 0, None, None)
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in _PORTS or not parts.hostname or port == -1:
        raise ValueError("expected smtp://USER:PASSWORD@HOST:PORT, smtps://..., smtp+plain://... or console:")
    user, password = (None if value is None else unquote(value) for value in (parts.username, parts.password))
    kind: Literal["smtp", "smtps", "smtp+plain"] = parts.scheme  # type: ignore[assignment]
    return MailServer(kind, parts.hostname, port or _PORTS[kind], user, password)


@dataclass(frozen=True, slots=True)
class Mailer:
    """Sends mail; raises StoreUnavailable if the server does not accept it."""

    server: MailServer
    sender: str

    @classmethod
    def of(cls, url: str | None, sender: str | None) -> "Mailer | None":
        """The mailer for these settings; None if mail is not configured.

        >>> Mailer.of(None, None) is None
        True
        """
        server = mail_server(url)
        return None if server is None else cls(server, sender or server.user or "emoscope@localhost")

    def send(self, to: str, subject: str, text: str) -> None:
        """Send a mail to one address."""
        message = EmailMessage()
        message["From"], message["To"], message["Subject"] = self.sender, to, " ".join(subject.split())
        message["Date"], message["Message-ID"] = formatdate(), make_msgid(domain=self.sender.rpartition("@")[2])
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        if self.server.kind == "console":
            _log.warning("mail to %s: %s\n%s", to, subject, text)
            return
        try:
            self._deliver(message)
        except (OSError, smtplib.SMTPException) as error:
            _log.error("mail could not be sent by %s: %s", self.server.host, error)
            raise StoreUnavailable("the mail could not be sent; try again later, or ask the organisers") from None

    def greet(self) -> None:
        """Sign in to the mail server without sending anything."""
        self._deliver(None)

    def _deliver(self, message: EmailMessage | None) -> None:
        kind, host, port, user, password = self.server
        secure = ssl.create_default_context()
        if kind == "smtps":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_SECONDS, context=secure)
        else:
            connection = smtplib.SMTP(host, port, timeout=_SECONDS)
        with connection:
            if kind == "smtp":
                connection.starttls(context=secure)
            if user is not None:
                connection.login(user, password or "")
            if message is not None:
                connection.send_message(message)
