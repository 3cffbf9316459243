"""What people may call themselves and their files: text that is safe to show anywhere, and told apart by eye."""

import re
import unicodedata

from emoscope.server.errors import Invalid

MAX_NAME = 60
_EMAIL = re.compile(r"[^@\s<>\"',;:()\\\[\]]{1,64}@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+")
_MARKUP = re.compile(r"[<>&\"`\\/]")
_NO_TEXT = {f"application/{kind}" for kind in ("zip", "gzip", "x-gzip", "x-tar", "x-7z-compressed", "pdf", "wasm")}
_KEY = re.compile(r"[\x21-\x7e]{1,128}")


def clean_name(text: str, field: str) -> str:
    """A team's or member's name, tidied; what could be markup, a path or invisible is refused.

    >>> clean_name("  Team   Joy ", "team")
    'Team Joy'
    >>> clean_name("<b>bold</b>", "team")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the team name may not hold '<'
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not name:
        raise Invalid(f"the {field} name is missing", field=field)
    if len(name) > MAX_NAME:
        raise Invalid(f"the {field} name is longer than {MAX_NAME} characters", field=field)
    if found := _MARKUP.search(name):
        raise Invalid(f"the {field} name may not hold {found[0]!r}", field=field)
    if any(unicodedata.category(mark)[0] == "C" for mark in name):
        raise Invalid(f"the {field} name may not hold control or invisible characters", field=field)
    if not any(mark.isalnum() for mark in name):
        raise Invalid(f"the {field} name needs a letter or digit", field=field)
    # A spreadsheet would take it for a formula.
    if name[0] in "=+-@":
        raise Invalid(f"the {field} name may not begin with {name[0]!r}", field=field)
    return name


def name_key(name: str) -> str:
    """The form in which names are compared.

    >>> name_key("Team JOY") == name_key("ｔｅａｍ joy")
    True
    """
    return unicodedata.normalize("NFKC", name).casefold()[:128]


def clean_email(text: str | None) -> str | None:
    """An address to write to, or None.

    >>> clean_email("ana@example.org"), clean_email(" ")
    ('ana@example.org', None)
    """
    address = (text or "").strip()
    if not address:
        return None
    if len(address) > 254 or not _EMAIL.fullmatch(address):
        raise Invalid("the email is not an address", field="email")
    return address


def clean_file_name(text: str) -> str:
    """The name of an upload as it may be repeated in answers; a path is refused.

    >>> clean_file_name("../../etc/passwd")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the file name must be a plain name, without a path
    """
    name = unicodedata.normalize("NFC", text).strip()
    if "/" in name or "\\" in name or name in {".", ".."} or re.match(r"[A-Za-z]:", name):
        raise Invalid("the file name must be a plain name, without a path", field="file")
    if not name or any(unicodedata.category(mark)[0] == "C" for mark in name):
        raise Invalid("the file name is missing or holds control characters", field="file")
    if len(name) > 100 or len(name.encode()) > 240:
        raise Invalid("the file name is longer than 100 characters", field="file")
    return name


def check_media_type(text: str | None) -> None:
    """Refuse an upload that says of itself that it is no text. Browsers call text by many names, which all go.

    >>> check_media_type("application/vnd.ms-excel")  # what some call .csv
    >>> check_media_type("image/png")
    Traceback (most recent call last):
    emoscope.server.errors.Invalid: the file says it is image/png; expected a text file
    """
    kind = (text or "").partition(";")[0].strip().lower()
    if kind.partition("/")[0] in {"image", "audio", "video", "font", "model"} or kind in _NO_TEXT:
        raise Invalid(f"the file says it is {kind[:60]}; expected a text file", field="file")


def clean_note(text: str) -> str:
    """A remark on a submission, on one line."""
    note = " ".join(unicodedata.normalize("NFC", text).split())
    if len(note) > 300:
        raise Invalid("the note is longer than 300 characters", field="note")
    if any(unicodedata.category(mark)[0] == "C" for mark in note):
        raise Invalid("the note may not hold control characters", field="note")
    return note


def clean_key(text: str | None) -> str | None:
    """A request's key, by which a repetition is known."""
    if text is None or text == "":
        return None
    if not _KEY.fullmatch(text):
        raise Invalid("the idempotency key must be 1 to 128 printable ASCII characters", field="key")
    return text
