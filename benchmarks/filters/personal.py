"""Error rates of the filter of personal data, on sentences in which they stand as [[KIND:value]]."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from benchmarks.common.pages import printed_section
from benchmarks.filters.sets import PARTS, SETS, Tally, lines_of
from emoscope.corpus.filters.personal import PersonalFilter
from emoscope.corpus.filters.spans import Kind, Span

MARKED = re.compile(r"\[\[([A-Z]+):(.*?)\]\](?!\])")


@dataclass(slots=True)
class PartTally:
    """All kinds of one part of the set."""

    kinds: dict[Kind, Tally] = field(default_factory=lambda: {kind: Tally() for kind in Kind})
    sentences: int = 0
    harmless: int = 0
    stopped: int = 0  # harmless sentences in which something was found
    leaked: int = 0  # sentences with personal data, some of it not masked whole by any kind
    errors: list[str] = field(default_factory=list)


def unmarked(line: str) -> tuple[str, list[Span]]:
    """The sentence, and where its personal data stand.

    >>> unmarked("mail [[EMAIL:a@b.com]] ok")
    ('mail a@b.com ok', [Span(start=5, end=12, kind=<Kind.EMAIL: 'email'>)])
    """
    text, spans, end = "", [], 0
    for match in MARKED.finditer(line):
        text += line[end : match.start()]
        spans.append(Span(len(text), len(text) + len(match[2]), Kind[match[1]]))
        text += match[2]
        end = match.end()
    return text + line[end:], spans


def personal_set() -> Iterator[tuple[str, str]]:
    for part in PARTS:
        for line in lines_of("personal", part):
            yield part, line
    for line in (SETS / "personal_generated.txt").read_text(encoding="utf-8").splitlines():
        part, _, text = line.partition("\t")
        yield part, text


def count_personal() -> dict[str, PartTally]:
    finder = PersonalFilter(mask=True)
    tallies = {part: PartTally() for part in PARTS}
    for part, line in personal_set():
        tally = tallies[part]
        text, there = unmarked(line)
        found = finder.find(text)
        tally.sentences += 1
        tally.harmless += not there
        tally.stopped += bool(found and not there)
        hidden = {place for span in found for place in range(span.start, span.end)}
        tally.leaked += any(not hidden >= set(range(span.start, span.end)) for span in there)
        missed = False
        for span in there:
            same = [one for one in found if one.kind == span.kind and one.start <= span.start and one.end >= span.end]
            tally.kinds[span.kind].there += 1
            tally.kinds[span.kind].covered += bool(same)
            missed |= not same
        for one in found:
            right = any(one.kind == span.kind and one.start < span.end and span.start < one.end for span in there)
            tally.kinds[one.kind].found += 1
            tally.kinds[one.kind].right += right
            missed |= not right
        if missed:
            tally.errors.append(f"{line}  =>  {[(one.kind.name, text[one.start : one.end]) for one in found]}")
    return tallies


def count_fresh() -> dict[str, int]:
    """Of the fresh set, written before the rules (one look-alike was read since): cases masked whole, by any kind."""
    finder = PersonalFilter(mask=True)
    counts = {"cases": 0, "masked": 0, "look_alikes": 0, "stopped": 0}
    for line in lines_of("personal", "fresh"):
        text, there = unmarked(line)
        found = finder.find(text)
        hidden = {place for span in found for place in range(span.start, span.end)}
        counts["cases"] += bool(there)
        counts["masked"] += bool(there) and all(hidden >= set(range(span.start, span.end)) for span in there)
        counts["look_alikes"] += not there
        counts["stopped"] += bool(found and not there)
    return counts


def measure_personal(write: bool) -> dict[str, Any]:
    tallies = count_personal()
    with printed_section("filters", "personal", write=write):
        print_kinds(tallies)
    print()
    with printed_section("filters", "personal-look-alikes", write=write):
        for part, tally in tallies.items():
            print(
                f"- {part}: {tally.sentences} sentences; {tally.stopped} of {tally.harmless} look-alikes masked; "
                f"incompletely masked {tally.leaked} of {tally.sentences - tally.harmless} with personal data"
            )
    fresh = count_fresh()
    with printed_section("filters", "personal-fresh", write=write):
        print(
            f"On {fresh['cases']} cases and {fresh['look_alikes']} look-alikes "
            "that the rules' author wrote before them, so not blind: "
            f"{fresh['masked']} masked whole, {fresh['stopped']} look-alikes masked."
        )
    print()
    held_out = tallies["held out"]
    return {
        "set": "benchmarks/filter_sets, personal data, held out",
        "items": held_out.sentences,
        "kinds": {
            kind.value: {"recall": round(one.recall, 4), "precision": round(one.precision, 4), "items": one.there}
            for kind, one in held_out.kinds.items()
        },
        "look_alikes_stopped": round(held_out.stopped / held_out.harmless, 4),
    }


def print_kinds(tallies: dict[str, PartTally]) -> None:
    heads = " | ".join(f"{part}: recall | precision | items" for part in PARTS)
    print(f"| kind | {heads} |\n|---" + "|---:" * 6 + "|")
    totals = {part: Tally() for part in PARTS}
    for part, tally in tallies.items():
        for one in tally.kinds.values():
            for name in ("there", "covered", "found", "right"):
                setattr(totals[part], name, getattr(totals[part], name) + getattr(one, name))
    rows = {kind.value: [tallies[part].kinds[kind] for part in PARTS] for kind in Kind}
    for name, cells in {**rows, "all": list(totals.values())}.items():
        shown = " | ".join(f"{one.recall:.3f} | {one.precision:.3f} | {one.there}" for one in cells)
        print(f"| {name} | {shown} |")
