"""Write the filters' lists of English words, of first names, and of names that are words too; needs Faker.

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
LEXICON = "lexicons/NRC-VAD-Lexicon.txt"
NAME_LOCALES = (
    "en", "en_US", "en_GB", "en_IE", "en_IN", "en_KE", "en_NG", "en_NZ", "en_PK", "en_TH", "cs_CZ", "da_DK", "de_DE",
    "es_ES", "fi_FI", "fr_FR", "hr_HR", "hu_HU", "id_ID", "it_IT", "nl_NL", "no_NO", "pl_PL", "pt_BR", "pt_PT", "ro_RO",
    "sl_SI", "sv_SE", "tr_TR", "tw_GH", "yo_NG", "zu_ZA",
)  # fmt: skip
NAME_KINDS = ("first_names", "first_names_female", "first_names_male", "first_names_nonbinary")
HAND_WRITTEN = ("names_more.txt", "names_cultures.txt", "names_east_asia.txt")


def make_lists(data: Path) -> None:
    counts: Counter[str] = Counter()
    written_small: Counter[str] = Counter()
    for split in ("train", "dev"):
        for line in (data / COMMENTS / f"{split}.tsv").read_text(encoding="utf-8").splitlines():
            text = line.split("\t")[0].replace("’", "'")
            counts.update(set(re.findall(r"[a-z]+(?:'[a-z]+)*", text.lower())))
            written_small.update(set(re.findall(r"(?<![\w'])[a-z]{2,}(?:'[a-z]+)*(?![\w'])", text)))
    # Names and religions are masked in these comments.
    common = sorted(word for word, count in counts.items() if count >= 20 and word not in ("name", "religion"))
    note = (
        "# Words in at least 20 of GoEmotions' training and development comments (CC BY 4.0, Google Research):\n"
        "# python tools/filter_word_lists.py --data DATA\n"
    )
    (LANGUAGE_WORDS / "english.txt").write_text(note + wrapped(common), encoding="utf-8")
    # Names of people are masked in these comments, so what stands in small letters is a word.
    vocabulary = sorted(word for word, count in written_small.items() if count >= 2)
    note = (
        "# Words written small in at least two of GoEmotions' training and development comments (CC BY 4.0, Google\n"
        "# Research), whose names are masked: python tools/filter_word_lists.py --data DATA\n"
    )
    (WORDS / "vocabulary.txt").write_text(note + wrapped(vocabulary), encoding="utf-8")
    names: set[str] = set()
    for locale in NAME_LOCALES:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        for attribute in NAME_KINDS:
            listed = getattr(provider, attribute, ())
            for name in () if isinstance(listed, property) else listed or ():
                names |= {name.lower(), without_accents(name).lower()}
    chosen = sorted(name for name in names if re.fullmatch(r"[^\W\d_]{3,}", name))
    note = (
        "# First names of Faker (MIT licence, Daniele Faraglia and contributors), locales\n"
        f"# {' '.join(NAME_LOCALES)}:\n"
        "# python tools/filter_word_lists.py --data DATA\n"
    )
    (WORDS / "names.txt").write_text(note + wrapped(chosen), encoding="utf-8")
    lines = [line for file in HAND_WRITTEN for line in (WORDS / file).read_text(encoding="utf-8").splitlines()]
    known = {*chosen, *(name for line in lines if not line.startswith("#") for name in line.split())}
    rated = {line.split("\t")[0].lower() for line in (data / LEXICON).read_text(encoding="utf-8").splitlines()}
    both = sorted(known & (set(vocabulary) | rated))
    note = "# First names that are English words as well: python tools/filter_word_lists.py --data DATA\n"
    (WORDS / "names_also_words.txt").write_text(note + wrapped(both), encoding="utf-8")
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
