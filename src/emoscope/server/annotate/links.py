"""Tokens of annotators' and managers' links; they follow the `#` of a link, which browsers do not send.

A token is a number signed with the data folder's key, so a link can be printed again. We sign it ourselves rather than
with itsdangerous because links that were handed out must stay valid.
"""

import base64
import hmac

_PREFIX = "emo_a"


def link_token(key: bytes, annotator: int, link: int = 0) -> str:
    """The token of an annotator's link; `link` counts the links they were given before.

    >>> link_token(b"k" * 32, 7) == link_token(b"k" * 32, 7, 1)
    False
    """
    text = f"annotator:{annotator}:{link}" if link else f"annotator:{annotator}"
    return f"{_PREFIX}{annotator}-{_signature(key, text)}"


def manager_token(key: bytes, link: int = 0) -> str:
    """The token of the managers' link; `link` counts the links that were replaced.

    >>> manager_token(b"k" * 32) == manager_token(b"k" * 32, 1)
    False
    """
    return f"emo_m-{_signature(key, f'manager:{link}')}"


def _signature(key: bytes, text: str) -> str:
    return base64.urlsafe_b64encode(hmac.digest(key, text.encode(), "sha256")).decode().rstrip("=")


def same_token(given: str, expected: str) -> bool:
    """Whether two tokens are the same, compared in constant time."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode())


def claimed_annotator(token: str) -> int | None:
    """The annotator's number in a token, whether or not the signature is right.

    >>> claimed_annotator("emo_a7-guessed")
    7
    """
    number = token.removeprefix(_PREFIX).partition("-")[0]
    return int(number) if number.isascii() and number.isdecimal() and len(number) <= 9 else None
