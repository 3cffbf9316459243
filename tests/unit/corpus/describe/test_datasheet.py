"""Datasheets: what they say, that they need nothing from elsewhere, and that no text breaks out of them."""

import html.parser
from collections.abc import Iterator

from emoscope.core.dialogue import Dialogue, Example
from emoscope.corpus.describe.datasheet import Datasheet, markdown, page
from emoscope.corpus.describe.statistics import describe

LABELS = ["others", "a|b <i>"]
AGREEMENT = {
    "items": 20,
    "fleiss_kappa": 0.512,
    "interval": {"low": 0.4, "high": 0.6},
    "per_class": {"others": 0.5, "a|b <i>": None},
    "per_class_interval": {"others": {"low": 0.1, "high": 0.9}, "a|b <i>": None},
    "krippendorff_alpha": 0.5,
    "krippendorff_alpha_interval": None,
    "pairwise": {"agreement": 0.7, "interval": {"low": 0.6, "high": 0.8}, "cohen_kappa": 0.5},
}
JUDGED = {
    "step": "aggregate",
    "in": 1200,
    "out": 1000,
    "dropped": {"no judgement": 200, "never": 0},
    "judgements": 3000,
    "annotators": 7,
    "annotators_refused": 1,
    "judgements_discarded": 44,
}


def examples() -> Iterator[Example]:
    for number in range(30):
        label = LABELS[number % 3 == 0]
        said = f"<script>alert({number})</script> honey 😂" if number % 3 == 0 else f"plain words {number}"
        yield Example(Dialogue.of(["hi", "yes?", said], id=str(number)), 2, label)


def sheet(**changes: object) -> Datasheet:
    values: dict[str, object] = {
        "about": {
            "name": "tiny",
            "title": "Tiny <b>&",
            "description": "Made up.",
            "labels": LABELS,
            "neutral": "others",
            "terms": "Ask | first.",
            "contact": "",
            "citation": "Me (2024).",
        },
        "metric": "accuracy",
        "splits": {name: describe(examples(), LABELS, neutral="others") for name in ("train", "test")},
        "natural_prior": {"others": 0.9, "a|b <i>": 0.1},
        "natural_source": "that of 10 dialogues",
        "steps": [{"step": "collect", "in": 1300, "out": 1200, "dropped": {"empty": 100}}, JUDGED],
        "agreement": AGREEMENT,
        "files": {"train.jsonl": "ab" * 32},
        "inputs": ["cd" * 32],
        "emoscope": "1.2.3",
        "plan": 'name = "tiny"\n# ```` </pre>\n',
    }
    return Datasheet(**{**values, **changes})  # type: ignore[arg-type]


class Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href", "xlink:href")]


def test_markdown_has_the_counts_the_agreement_the_hashes_and_the_plan() -> None:
    text = markdown(sheet())
    for wanted in (
        "| collect | 1,300 | 1,200 | empty: 100 |",
        "| aggregate | 1,200 | 1,000 | no judgement: 200 |",
        "3,000 judgements by 7 annotators, of whom 1 were refused",
        "| Fleiss' kappa | 0.512 | 0.400 to 0.600 |",
        "| Fleiss' kappa of a\\|b &lt;i> | – | – |",
        f"| train.jsonl | `{'ab' * 32}` |",
        f"- `{'cd' * 32}`",
        'name = "tiny"\n# ````',
        "Ask | first.",
        "| natural mix |",
        "Me (2024).",
    ):
        assert wanted in text, wanted
    assert "never" not in text
    # The plan's own fence does not end the block.
    assert text.count("`````") == 2


def test_tables_have_as_many_cells_in_each_row() -> None:
    block: list[str] = []
    for line in [*markdown(sheet()).splitlines(), ""]:
        if line.startswith("|"):
            block.append(line)
        elif block:
            widths = {row.replace("\\|", "").count("|") for row in block}
            assert len(widths) == 1, block
            block = []


def test_html_needs_nothing_from_elsewhere_and_escapes_everything() -> None:
    text = page(sheet())
    found = Tags()
    found.feed(text)
    assert "script" not in found.names
    assert "img" not in found.names
    assert found.names.count("svg") >= 3
    assert all(address.startswith("#") for address in found.addresses)
    assert "Tiny &lt;b&gt;&amp;" in text
    assert "# ```` &lt;/pre&gt;" in text
    assert page(sheet()) == text


def test_filters_are_shown_with_what_is_known_of_their_errors() -> None:
    filters = {
        "personal": {"dropped": {}, "masked": {"email": 1200}, "error_rates": {"recall": 0.98, "kinds": {"email": 1}}},
        "language": {"dropped": {"other language": 3}, "masked": {}, "error_rates": None},
    }
    step = {"step": "filter", "in": 9, "out": 6, "dropped": {"other language": 3}, "filters": filters}
    text = markdown(sheet(steps=[step, JUDGED]))
    assert "| personal |  | email 1,200 | recall 0.980 |" in text
    assert "| language | other language 3 |  |  |" in text
    assert "email 1,200" in page(sheet(steps=[step, JUDGED]))


def test_without_annotators_or_agreement() -> None:
    alone = sheet(agreement=None)
    assert "No item has two judgements" in markdown(alone)
    nobody = sheet(agreement=None, steps=[{"step": "distant", "in": 5, "out": 5, "dropped": {}}])
    for text in (markdown(nobody), page(nobody)):
        assert "By no annotator" in text
