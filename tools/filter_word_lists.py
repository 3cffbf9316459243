"""Write the filters' lists of English words and of first names into the package; needs Faker.

python tools/filter_word_lists.py --data DATA
"""

import argparse
import importlib
import os
import re
import textwrap
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

WORDS = Path(__file__).resolve().parents[1] / "src" / "emoscope" / "corpus" / "filters" / "words"
LANGUAGE_WORDS = WORDS.parents[2] / "core" / "words"
COMMENTS = "auxiliary/goemotions/original"
NAME_LOCALES = ("en_US", "en_GB", "en_IN", "es_ES", "de_DE", "fr_FR", "it_IT", "pt_BR")


def make_lists(data: Path) -> None:
    counts: Counter[str] = Counter()
    for split in ("train", "dev"):
        for line in (data / COMMENTS / f"{split}.tsv").read_text(encoding="utf-8").splitlines():
            text = line.split("\t")[0].lower().replace("’", "'")
            counts.update(set(re.findall(r"[a-z]+(?:'[a-z]+)*", text)))
    # Names and religions are masked in these comments.
    common = sorted(word for word, count in counts.items() if count >= 20 and word not in ("name", "religion"))
    note = (
        "# Words in at least 20 of GoEmotions' training and development comments (CC BY 4.0, Google Research):\n"
        "# python tools/filter_word_lists.py --data DATA\n"
    )
    (LANGUAGE_WORDS / "english.txt").write_text(note + wrapped(common), encoding="utf-8")
    names: set[str] = set()
    for locale in NAME_LOCALES:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for attribute in ("first_names", "first_names_female", "first_names_male", "first_names_nonbinary"):
            for name in getattr(provider, attribute, ()) or ():
                names |= {name.lower(), without_accents(name).lower()}
    chosen = sorted(name for name in names if re.fullmatch(r"[^\W\d_]{3,}", name))
    note = (
        f"# First names of Faker (MIT licence, Daniele Faraglia and contributors), locales {' '.join(NAME_LOCALES)}:\n"
        "# python tools/filter_word_lists.py --data DATA\n"
    )
    (WORDS / "names.txt").write_text(note + wrapped(chosen), encoding="utf-8")
    print(f"{len(common):,} words, {len(chosen):,} names")


def wrapped(words: Sequence[str]) -> str:
    return "\n".join(textwrap.wrap(" ".join(words), 118)) + "\n"


def without_accents(text: str) -> str:
    return "".join(mark for mark in unicodedata.normalize("NFD", text) if not unicodedata.combining(mark))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("EMOSCOPE_DATA", "data")))
    make_lists(parser.parse_args().data)


if __name__ == "__main__":
    main()
