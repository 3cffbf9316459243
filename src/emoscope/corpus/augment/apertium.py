"""Apertium: rule-based, offline and small enough for any machine."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cached_property, partial

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.augment.engines import UNTRANSLATED, Translator, long_code

_INSTALL = "apt-get install apertium apertium-eng-spa apertium-eng-cat, or see https://wiki.apertium.org"
# Special characters of Apertium's stream format.
_RESERVED = re.compile(r"[\\\[\]{}^$/@<>]")
# Apertium marks unknown words with `*` and words it cannot inflect with `#`, and uses `~`, so the text's own ones are
# sent as private-use characters.
_HIDE = str.maketrans("*#~", "\ue001\ue002\ue003")
_SHOW = str.maketrans("\ue001\ue002\ue003", "*#~")
_PRIVATE = re.compile(r"[\x00-\x1f\x7f\ue000-\uf8ff]")
# Apertium's own readers append a full stop to end the sentence, and remove it again. In "A." it becomes part of the
# word.
_END = ".[]"
_ENDED = re.compile(r"\.?\[\]\s*\Z")
_ESCAPED_OR_MARK = re.compile(r"\\(.)|[*@#]", re.DOTALL)


class Apertium:
    """The Apertium installed on this machine.

    Earlier texts of a batch can affect later ones: about one text in fifty is translated differently in another batch.
    The same batches give the same translations.
    """

    def __init__(self) -> None:
        self._program = shutil.which("apertium")
        if self._program is None:
            raise EmoscopeError(f"Apertium is not installed ({_INSTALL})")

    @cached_property
    def name(self) -> str:
        return self._run("-V").stdout.decode("utf-8", "replace").strip().lower()

    @cached_property
    def directions(self) -> tuple[str, ...]:
        """The installed directions, such as `eng-spa`."""
        return tuple(self._run("-l").stdout.decode("utf-8", "replace").split())

    def translator(self, source: str, target: str) -> Translator:
        direction = f"{long_code(source)}-{long_code(target)}"
        if direction not in self.directions:
            installed = ", ".join(self.directions) or "none"
            raise EmoscopeError(f"Apertium has no data for {direction}; installed are: {installed}")
        return partial(self._translate, direction)

    def _translate(self, direction: str, texts: Sequence[str]) -> list[str]:
        if not texts:
            return []
        # A NUL ends a text: the pipeline flushes its output and resets.
        joined = "".join(f"{_escaped(text)}{_END}\0" for text in texts)
        done = self._run("-z", "-f", "none", direction, text=joined)
        parts = done.stdout.decode("utf-8", "replace").split("\0")
        if done.returncode == 0 and len(parts) > len(texts) and not "".join(parts[len(texts) :]).strip():
            return [_unescaped(part) for part in parts[: len(texts)]]
        if len(texts) == 1:
            return [""]  # Apertium fails on this text; the empty translation is dropped and counted
        middle = len(texts) // 2
        return self._translate(direction, texts[:middle]) + self._translate(direction, texts[middle:])

    def _run(self, *options: str, text: str = "") -> subprocess.CompletedProcess[bytes]:
        assert self._program is not None
        try:
            return subprocess.run(
                [self._program, *options], input=text.encode("utf-8", "replace"), capture_output=True, check=False
            )
        except OSError as error:
            raise EmoscopeError(f"Apertium could not be run ({error.strerror or error})") from None


def _escaped(text: str) -> str:
    plain = _PRIVATE.sub(" ", text).translate(_HIDE)
    return _RESERVED.sub(lambda match: f"\\{match.group()}", plain)


def _unescaped(text: str) -> str:
    shown = _ESCAPED_OR_MARK.sub(lambda match: match.group(1) or UNTRANSLATED, _ENDED.sub("", text))
    return " ".join(shown.translate(_SHOW).split())
