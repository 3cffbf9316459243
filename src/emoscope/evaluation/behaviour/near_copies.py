"""Find training text that comes too close to the suite."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from emoscope.core.dialogue import Dialogue, DialogueLike
from emoscope.core.text import emoticons_in, normalise_text, strip_emoticons, words
from emoscope.evaluation.behaviour.cases import Case
from emoscope.evaluation.behaviour.suite import read_suite

SIMILARITY = 0.8
# A last turn of fewer different words ("ok, thanks") is only compared together with the turns before it.
MIN_LAST_TURN = 4


@dataclass(frozen=True, slots=True)
class NearCopy:
    """The position of a training dialogue, from 0, and a case of the suite that it nearly equals."""

    position: int
    case: Case


def near_copies(dialogues: Iterable[DialogueLike | str], cases: Iterable[Case] | None = None) -> list[NearCopy]:
    """The training dialogues that nearly equal a case of the suite, in the last turn or as a whole.

    Texts are compared as sets of normalised words: equal, or with a Jaccard similarity of 0.8 and more.

    >>> [copy.position for copy in near_copies(["what a nice cup", "the 42 leaves at ten past every hour!!"])]
    [1]
    """
    index = _Index(read_suite() if cases is None else cases)
    return [NearCopy(position, case) for position, text in enumerate(dialogues) for case in index.near(text)]


class _Index:
    """The suite's texts by their rarest words.

    A text of n words that shares at least 80 % of them with another shares one of its n - ceil(0.8 n) + 1 rarest words,
    so looking these up is enough.
    """

    def __init__(self, cases: Iterable[Case]) -> None:
        self._texts: dict[frozenset[str], list[Case]] = {}
        for case in cases:
            for text in {text for dialogue in case.dialogues for text in _texts(dialogue)}:
                self._texts.setdefault(text, []).append(case)
        frequency = Counter(word for text in self._texts for word in text)
        self._by_word: dict[str, list[frozenset[str]]] = defaultdict(list)
        for text in self._texts:
            rarest = sorted(text, key=lambda word: (frequency[word], word))
            for word in rarest[: len(text) - ceil(SIMILARITY * len(text)) + 1]:
                self._by_word[word].append(text)

    def near(self, text: DialogueLike | str) -> list[Case]:
        cases: dict[Case, None] = {}
        for own in _texts(Dialogue.of([text] if isinstance(text, str) else text)):
            for other in {other for word in own for other in self._by_word.get(word, ())}:
                if len(own & other) >= SIMILARITY * len(own | other):
                    cases |= dict.fromkeys(self._texts[other])
        return list(cases)


def _texts(dialogue: Dialogue) -> set[frozenset[str]]:
    """The words of the whole dialogue, and of the last turn if it is long enough."""
    last = frozenset(_words(dialogue.texts[-1]))
    whole = frozenset(word for text in dialogue.texts for word in _words(text))
    return {text for text in (whole, last) if text and (text is whole or len(text) >= MIN_LAST_TURN)}


def _words(text: str) -> list[str]:
    # Emoji count as words, so that messages of emoji alone can be compared.
    return [*words(normalise_text(strip_emoticons(text))), *emoticons_in(text)]
