"""The dialogues that most benchmarks of speed and scale are measured on."""

from pathlib import Path

from emoscope.tasks import get_task
from emoscope.tasks.data import read_split


def emocontext_turns(data: Path | None, split: str) -> list[list[str]]:
    """The turns of each dialogue of an EmoContext split."""
    return [list(example.context.texts) for example in read_split(get_task("emocontext"), split, data)]
