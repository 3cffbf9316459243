"""An annotator's link: their number and its signature, behind a `#`, which browsers do not send.

The only secret is the folder's key, so links can be printed again. The signature is our own rather than itsdangerous's,
because links that are already out must stay valid.
"""

import base64
import hashlib
import hmac

_PREFIX = "emo_a"
_MANAGER = "emo_m-"


def link_token(key: bytes, annotator: int, link: int = 0) -> str:
    """The token of an annotator's link; each new link of theirs has another number.

    >>> annotator_of(b"k" * 32, link_token(b"k" * 32, 7))
    7
    """
    signs = f"annotator:{annotator}:{link}" if link else f"annotator:{annotator}"
    signed = hmac.new(key, signs.encode(), hashlib.sha256).digest()
    return f"{_PREFIX}{annotator}-{base64.urlsafe_b64encode(signed).decode().rstrip('=')}"


def annotator_of(key: bytes, token: str, link: int = 0) -> int | None:
    """The number of the token's annotator, or None if it is not valid.

    >>> annotator_of(b"k" * 32, "emo_a7-guessed") is None
    True
    """
    number = claimed_annotator(token)
    if number is None:
        return None
    return number if same_token(token, link_token(key, number, link)) else None


def manager_token(key: bytes, link: int = 0) -> str:
    """The token of the managers' link; each new link has another number.

    >>> manager_token(b"k" * 32) == manager_token(b"k" * 32, 1)
    False
    """
    signed = hmac.new(key, f"manager:{link}".encode(), hashlib.sha256).digest()
    return _MANAGER + base64.urlsafe_b64encode(signed).decode().rstrip("=")


def same_token(given: str, right: str) -> bool:
    """Whether two tokens are the same; how long it takes to tell says nothing about them."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode())


def claimed_annotator(token: str) -> int | None:
    """The number a token names, whether or not it is signed.

    >>> claimed_annotator("emo_a7-guessed")
    7
    """
    number = token.removeprefix(_PREFIX).partition("-")[0]
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= 9 else None
