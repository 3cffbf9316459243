"""Drop dialogues with words from a user's list."""

import re
from pathlib import Path

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import InputError
from emoscope.core.files import text_lines
from emoscope.core.plain_words import plain_words
from emoscope.corpus.filters.review import DialogueFilter, Review


class LexiconFilter(DialogueFilter):
    """Drops dialogues with a word or phrase from a file: one per line, `*` for any ending, # for comments.

    Case, repeated letters and disguised spellings are ignored.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "work.txt"
    >>> _ = file.write_text("# ours\\nproject falcon\\nlayoff*\\n")
    >>> dialogues = [Dialogue.of(["any LAYOFFS?"]), Dialogue.of(["a falcon!"])]
    >>> [review.reason for review in LexiconFilter(file).review(dialogues)]
    ['lexicon:work', None]
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        entries = [line.strip() for _, line in text_lines(self.path) if line.strip() and not line.startswith("#")]
        if not entries:
            raise InputError(self.path, "has no words; expected one word or phrase per line")
        self.name = f"lexicon:{self.path.stem}"
        self.settings = {"file": self.path.name, "entries": len(entries), "words": sorted(entries)}
        self._known = frozenset(word.rstrip("*") for entry in entries for word in entry.lower().split())
        choices = (re.escape(plain_words(entry.rstrip("*"))) + r"\w*" * entry.endswith("*") for entry in entries)
        self._pattern = re.compile(rf"\b(?:{'|'.join(choices)})(?!\w)")

    def review_one(self, dialogue: Dialogue) -> Review:
        """The details are the turns, counted from 1."""
        texts = enumerate(dialogue.texts, start=1)
        turns = [number for number, text in texts if self._pattern.search(plain_words(text, self._known))]
        return Review(dialogue, self.name, {"turns": turns}) if turns else Review(dialogue)
