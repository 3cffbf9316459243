"""How often messages in ten languages are noted as not English, and how often English ones wrongly are.

    python -m benchmarks.quality.notes --data DATA

The messages in other languages were written for this (`languages.tsv`), `short` ones in the ten languages of
`other_emotions.txt`; none was used to make the rule or its word lists. The English ones are EmoContext's development
set (which has a few messages in Hindi), GoEmotions' and MELD's test sets, and the behaviour suite. Also printed: how
many of them are noted as speaking of self-harm, and what the notes cost.
"""

import csv
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.common.options import command_line
from benchmarks.common.timing import seconds
from emoscope.core.language import language_of
from emoscope.core.self_harm import mentions_self_harm
from emoscope.detector.notes import notes_of
from emoscope.evaluation.behaviour import read_suite
from emoscope.evaluation.card import markdown_table
from emoscope.tasks import get_task
from emoscope.tasks.data import read_split
from emoscope.tasks.datasets.readers import read_goemotions


def written_messages() -> dict[str, list[str]]:
    """The messages of `languages.tsv` by language."""
    found: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines():
        language, text = line.split("\t")
        found.setdefault(language, []).append(text)
    return found


def english_messages(data: Path) -> dict[str, list[str]]:
    """Messages of benchmark data, nearly all of them English."""
    with (data / "auxiliary/meld/test_sent_emo.csv").open(encoding="utf-8", newline="") as handle:
        meld = [row["Utterance"] for row in csv.DictReader(handle)]
    emocontext = read_split(get_task("emocontext"), "dev", data)
    suite = {dialogue.texts[-1] for case in read_suite() for dialogue in case.dialogues}
    return {
        "EmoContext, dev": [example.text for example in emocontext],
        "GoEmotions, test": [text for text, *_ in read_goemotions(data / "auxiliary/goemotions/ekman", "test")],
        "MELD, test": meld,
        "behaviour suite": sorted(suite),
    }


def figures(messages: Mapping[str, Sequence[str]]) -> str:
    """A table: messages, noted as not or partly English, as self-harm, and microseconds for a message's notes."""
    rows = []
    for name, texts in messages.items():
        languages = [language_of(text) for text in texts]
        cost = seconds(lambda: [notes_of(text) for text in texts], time.process_time) / len(texts) * 1e6  # noqa: B023
        noted = sum(language != "english" for language in languages)
        harm = sum(map(mentions_self_harm, texts))
        rows.append([name, f"{len(texts):,}", f"{noted:,}", f"{noted / len(texts):.2%}", f"{harm:,}", f"{cost:.0f}"])
    columns = ["messages", "number", "noted as not English", "share", "as self-harm", "µs each"]
    return markdown_table(columns, rows)


def main() -> None:
    data = command_line(__doc__, "data").parse_args().data
    messages = written_messages()
    if (data / "auxiliary").is_dir():
        messages |= english_messages(data)
    print(figures(messages))


if __name__ == "__main__":
    main()
