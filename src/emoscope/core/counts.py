"""Numbers with their nouns, for messages."""


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "dialogue"), counted(1200, "dialogue")
    ('1 dialogue', '1,200 dialogues')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
