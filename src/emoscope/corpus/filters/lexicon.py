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
        lines = [(number, line.strip()) for number, line in text_lines(self.path)]
        rows = [(number, line) for number, line in lines if line and not line.startswith("#")]
        if not rows:
            raise InputError(self.path, "has no words; expected one word or phrase per line")
        choices = [self._choice(number, entry) for number, entry in rows]
        entries = [entry for _, entry in rows]
        self.name = f"lexicon:{self.path.stem}"
        self.settings = {"file": self.path.name, "entries": len(entries), "words": sorted(entries)}
        self._known = frozenset(word.rstrip("*") for entry in entries for word in entry.lower().split())
        self._pattern = re.compile(rf"\b(?:{'|'.join(choices)})")

    def _choice(self, number: int, entry: str) -> str:
        """The pattern of one line; a line that would find nothing, or everything, is an error."""
        begin = entry.rstrip("*")
        if re.search(r"(?:^|\s)\*", begin):  # within a word, as in f*ck, it is a letter
            raise InputError(self.path, f"{entry!r}: * stands for any ending of the last word only", row=number)
        words = plain_words(begin).removeprefix(", ")
        if not re.search(r"\w", words):
            raise InputError(self.path, f"{entry!r} has no word in Latin letters or digits to look for", row=number)
        # Marks become a comma and a space, behind which a word may follow.
        end = r"\w*" if entry.endswith("*") else "" if words.endswith(" ") else r"(?!\w)"
        return re.escape(words) + end

    def review_one(self, dialogue: Dialogue) -> Review:
        """The details are the turns, counted from 1."""
        texts = enumerate(dialogue.texts, start=1)
        turns = [number for number, text in texts if self._pattern.search(plain_words(text, self._known))]
        return Review(dialogue, self.name, {"turns": turns}) if turns else Review(dialogue)
