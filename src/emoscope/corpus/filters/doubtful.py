"""What may be personal data although no rule is sure, for people to judge."""

import re
from collections.abc import Iterator

from emoscope.corpus.filters.person_names import small_names
from emoscope.corpus.filters.shipped import read_patterns
from emoscope.corpus.filters.spans import Kind, Span

_DATE = read_patterns("presidio.toml")["date"]
_NUMBER = re.compile(r"(?<![\w.,/:$€£-])\+?\(?\d(?:[ .()-]{0,2}\d){6,}(?![\w%/:])")
_COUNTING = re.compile(r"(?:\b\d\b\W*){5}")  # 1 2 3 4 5


def doubtful_data(text: str) -> Iterator[Span]:
    """First names in small letters, whatever stands before them, and numbers of seven digits or more.

    >>> text = "only amit answers, it is 4455667788 since 2023-10-12"
    >>> [(text[span.start : span.end], span.kind.value) for span in doubtful_data(text)]
    [('amit', 'name'), ('4455667788', 'phone')]
    """
    yield from small_names(text)
    for match in _NUMBER.finditer(text):
        number = match.group()
        is_date = not number.isdigit() and _DATE.fullmatch(number)
        if not is_date and not _COUNTING.search(number):
            yield Span(*match.span(), Kind.PHONE)
