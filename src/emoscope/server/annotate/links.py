"""An annotator's link: their number and its signature, behind a `#`, which browsers do not send.

The only secret is the folder's key, so links can be printed again. The signature is our own rather than itsdangerous's,
because links that are already out must stay valid.
"""

import base64
import hashlib
import hmac

_PREFIX = "emo_a"


def link_token(key: bytes, annotator: int) -> str:
    """The token of an annotator's link.

    >>> annotator_of(b"k" * 32, link_token(b"k" * 32, 7))
    7
    """
    signed = hmac.new(key, f"annotator:{annotator}".encode(), hashlib.sha256).digest()
    return f"{_PREFIX}{annotator}-{base64.urlsafe_b64encode(signed).decode().rstrip('=')}"


def annotator_of(key: bytes, token: str) -> int | None:
    """The number of the token's annotator, or None if it is not valid.

    >>> annotator_of(b"k" * 32, "emo_a7-guessed") is None
    True
    """
    number = token.removeprefix(_PREFIX).partition("-")[0]
    if not (number.isascii() and number.isdecimal() and len(number) <= 9):
        return None
    right = hmac.compare_digest(token.encode("utf-8", "replace"), link_token(key, int(number)).encode())
    return int(number) if right else None
