"""Names of speakers that are roles, not people: another person in every dialogue."""

import re

ROLES = frozenset(
    {
        *("user", "agent", "bot", "assistant", "system", "speaker", "customer", "support", "admin", "operator"),
        *("human", "client"),
    }
)
# What the filter of personal data writes for names: `speaker1` of one dialogue is not that of another.
_NUMBERED = re.compile(r"speaker[\s_-]*\d+")


def is_role(speaker: str) -> bool:
    """Whether a speaker is named by a role, so that nothing follows from one dialogue for another.

    >>> [is_role(speaker) for speaker in ("user", "Agent", "speaker2", "Ann", "user_4711")]
    [True, True, True, False, False]
    """
    plain = speaker.strip().lower()
    return plain in ROLES or bool(_NUMBERED.fullmatch(plain))
