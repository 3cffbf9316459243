"""People who register: by their own account, or identified by an OpenID provider."""

import re
from dataclasses import dataclass

from emoscope.server.errors import Invalid
from emoscope.server.store.names import clean_name

_EMAIL = re.compile(r"[^@\s<>\",;:()\\\[\]]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True, slots=True)
class Identity:
    """An identity at an OpenID provider; the address only if the provider has verified it."""

    subject: str
    email: str | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Applicant:
    """A person who registers; `verified` if they have proved that the address is theirs."""

    name: str
    email: str | None = None
    verified: bool = False
    subject: str | None = None

    @classmethod
    def of(cls, name: str, email: str | None, identity: Identity | None = None) -> "Applicant":
        """A person with the name and address they enter, or the address their provider has verified."""
        clean, address = clean_name(name, "member"), clean_email(email)
        if identity is None:
            return cls(clean, address)
        return cls(clean, identity.email or address, identity.email is not None, identity.subject)


def clean_email(text: str | None) -> str | None:
    """An email address, or None.

    >>> clean_email("ana@example.org"), clean_email(" ")
    ('ana@example.org', None)
    """
    address = (text or "").strip()
    if not address:
        return None
    if len(address) > 254 or not _EMAIL.fullmatch(address):
        raise Invalid("not a valid e-mail address", field="email")
    return address


def email_key(address: str) -> str:
    """The form in which addresses are compared, without case and without what follows a plus sign.

    >>> email_key("Ana+two@Example.org")
    'ana@example.org'
    """
    mailbox, _, host = address.casefold().rpartition("@")
    return f"{mailbox.partition('+')[0]}@{host}"
