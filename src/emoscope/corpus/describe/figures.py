"""The figures of a corpus, drawn from its statistics; they show shares, since classes differ in size."""

from collections.abc import Mapping
from typing import Any

import emoji

from emoscope.core.colours import colours_of
from emoscope.core.plots import INK, QUIET, Chart, altair, label_colours, rows, titled
from emoscope.corpus.annotation.votes import Votes
from emoscope.corpus.describe.distribution import Distribution
from emoscope.corpus.describe.statistics import CorpusStatistics
from emoscope.corpus.describe.word_wheel import wheel

_WIDTH = 640
_ACCENT = "#3f4a5a"  # for bars that are not an emotion
_ALL = "all utterances"  # replaces the classes if there are no labels


def figures(splits: Mapping[str, CorpusStatistics], title: str) -> dict[str, Chart]:
    """Every figure these splits have data for, by a name that works as a file name.

    `labels` compares the splits; each other figure shows one split, such as `train-words`.
    """
    charts = {"labels": label_shares(splits, title)} if any(split.labelled for split in splits.values()) else {}
    for name, split in splits.items():
        of = f"{title}, {name}"
        charts[f"{name}-words"] = word_counts(split, of)
        if any(wording.unigrams for wording in split.wording.values()):
            charts[f"{name}-unigrams"] = unigrams(split, of)
        if split.overall.emoticons:
            charts[f"{name}-emoticons"] = emoticons(split, of)
        if len(split.conversations.turns.counts) > 1:
            charts[f"{name}-turns"] = dialogue_lengths(split, of)
        if split.votes is not None:
            charts[f"{name}-agreement"] = agreement(split.votes, of)
            if split.votes.by_label:
                charts[f"{name}-votes"] = votes_by_label(split.votes, list(split.labels), of)
    return charts


def label_shares(splits: Mapping[str, CorpusStatistics], title: str) -> Chart:
    """The share of each label in each split, with its count (Figure 1 and Table 2 of the EmoContext paper)."""
    alt = altair()
    labelled = {name: split for name, split in splits.items() if split.labelled}
    labels = list(dict.fromkeys(label for split in labelled.values() for label in split.labels))
    table = [
        {
            "split": f"{name} ({split.labelled:,})",
            "label": label,
            "share": split.share(label),
            "text": f"{split.share(label):.1%} ({split.labels.get(label, 0):,})",
        }
        for name, split in labelled.items()
        for label in labels
    ]
    highest = max(split.share(label) for split in labelled.values() for label in labels)
    bars = _bars(table, "label", "share", width=max(280, _WIDTH // len(labelled)), text=105, to=highest, labels=labels)
    header = alt.Header(title=None, labelAnchor="start")
    chart = bars.facet(column=alt.Column("split:N", sort=[row["split"] for row in table], header=header))
    silent = [f"{name} ({split.examples:,})" for name, split in splits.items() if not split.labelled]
    note = f"; without labels: {', '.join(silent)}" if silent else ""
    return titled(chart, f"Labels: {title}", f"Share of each label, with its count{note}")


def word_counts(split: CorpusStatistics, title: str) -> Chart:
    """Words per utterance for each class, without emoticons (Figure 2 of the EmoContext paper)."""
    alt = altair()
    last = max(split.overall.words.quantile(0.99), 1)
    parts = {name: wording.words for name, wording in split.wording.items()} or {_ALL: split.overall.words}
    columns = 1 if len(parts) <= 4 else 2
    width = _WIDTH // columns
    tail = split.overall.words.max > last
    panels = []
    for place, (name, counts) in enumerate(parts.items(), start=1):
        axis = "words in the utterance, emoticons removed" if place > len(parts) - columns else None
        bars = _histogram(counts, 0, last, tail=tail, colour=_colour(name), title=axis)
        note = f"median {counts.median}, mean {counts.mean:.1f}; {counts.total:,} utterances"
        panels.append(alt.layer(bars.properties(width=width, height=80), *_heading(name, note, width)))
    return titled(
        alt.concat(*panels, columns=columns, spacing={"row": 18, "column": 32}).resolve_scale(y="shared"),
        f"Words per utterance: {title}",
        "Share of each class's utterances; one of nothing but emoticons has 0 words",
    )


def unigrams(split: CorpusStatistics, title: str) -> Chart:
    """The most frequent uncommon words of each class, around a circle (Figure 3 of the EmoContext paper)."""
    alt = altair()
    chosen = {name: wording for name, wording in split.wording.items() if wording.unigrams}
    wheels = [
        wheel(
            name,
            [(term.text, 1000 * term.count / wording.utterances) for term in wording.unigrams],
            _colour(name),
            caption=f"{wording.utterances:,} utterances",
        )
        for name, wording in chosen.items()
    ]
    columns = 4 if len(wheels) in {4, 7, 8} else 3
    return titled(
        alt.concat(*wheels, columns=columns, spacing=20),
        f"Most frequent words per class: {title}",
        f"Outside {split.common_words}. Length of a bar: occurrences per 1,000 utterances of the class,",
        "on each circle's own scale; the most frequent first, clockwise from the top.",
    )


def emoticons(split: CorpusStatistics, title: str) -> Chart:
    """The top emoticons of each class, by name since few fonts have them (Table 3 of the EmoContext paper)."""
    alt = altair()
    chosen = {name: wording for name, wording in split.wording.items() if wording.emoticons} or {_ALL: split.overall}
    top = max(term.utterances / wording.utterances for wording in chosen.values() for term in wording.emoticons)

    def bars(name: str) -> Chart:
        wording = chosen[name]
        shares = [(emoticon_name(term.text), term.utterances / wording.utterances) for term in wording.emoticons]
        table = [{"emoticon": emoticon, "share": share, "text": f"{share:.1%}"} for emoticon, share in shares]
        subtitle = f"{wording.emoticon_share:.1%} of {wording.utterances:,} utterances have any"
        heading = _panel_title(name, offset=6, subtitle=subtitle, subtitlePadding=3, subtitleFontSize=12)
        chart = _bars(table, "emoticon", "share", width=230, step=22, text=45, to=top, colour=_colour(name))
        return chart.properties(title=heading)

    share = split.conversations.emoticon_share
    chart = alt.concat(*map(bars, chosen), columns=2, spacing={"row": 24, "column": 48})
    return titled(
        chart,
        f"Most frequent emoticons: {title}",
        f"Share of the class's utterances that hold it; {share:.1%} of all dialogues hold an emoticon in some turn",
    )


def dialogue_lengths(split: CorpusStatistics, title: str) -> Chart:
    """Turns per dialogue."""
    turns = split.conversations.turns
    last = turns.quantile(0.995)
    tail = turns.max > last
    chart = _histogram(turns, turns.min, last, tail=tail, colour=_ACCENT, title="turns in the dialogue")
    return titled(
        chart.properties(width=_WIDTH, height=200),
        f"Turns per dialogue: {title}",
        f"Share of {turns.total:,} dialogues of {turns.min} to {turns.max} turns; "
        f"median {turns.median}, mean {turns.mean:.1f}",
    )


def agreement(votes: Votes, title: str) -> Chart:
    """How many annotators agreed, and Fleiss' kappa per label."""
    alt = altair()
    kappas = {label: kappa for label, kappa in votes.kappa_per_label.items() if kappa is not None}
    raters = next(iter(votes.raters.counts)) if len(votes.raters.counts) == 1 else None
    of_raters = f" of {raters}" if raters else ""
    minds = [
        {"votes": f"{value}{of_raters}", "share": count / votes.items, "text": f"{count / votes.items:.1%}"}
        for value, count in sorted(votes.largest.counts.items(), reverse=True)
    ]
    scores = [{"label": label, "kappa": kappa, "text": f"{kappa:.3f}"} for label, kappa in kappas.items()]
    most = max(votes.largest.counts.values()) / votes.items
    lowest, highest = min([0.0, *kappas.values()]), max([0.1, *kappas.values()])
    overall = "not defined" if votes.kappa is None else f"{votes.kappa:.3f}"

    left = _bars(minds, "votes", "share", width=260, text=55, to=most, colour=_ACCENT)
    right = _bars(scores, "label", "kappa", width=300, text=55, start=lowest, to=highest, labels=list(kappas))
    chart = alt.hconcat(
        left.properties(title=_panel_title("Votes for the most chosen label", offset=8)),
        right.properties(title=_panel_title(f"Fleiss' kappa per label (overall {overall})", offset=8)),
        spacing=48,
    )
    return titled(chart, f"Agreement of the annotators: {title}", f"{votes.items:,} utterances with votes")


def votes_by_label(votes: Votes, order: list[str], title: str) -> Chart:
    """How the votes on the items of each final label were distributed."""
    alt = altair()
    finals = [label for label in order if label in votes.by_label]
    columns = [label for label in order if label in votes.counts]
    columns += [label for label in votes.counts if label not in columns]
    table = [
        {"label": final, "vote": vote, "share": share, "text": f"{share:.0%}", "dark": share > 0.5}
        for final in finals
        for total in [sum(votes.by_label[final].values())]
        for vote in columns
        for share in [votes.by_label[final][vote] / total if total else 0.0]
    ]
    base = alt.Chart(rows(table), width={"step": 72}, height={"step": 34}).encode(
        x=alt.X("vote:N", sort=columns, title="vote of an annotator", axis=_names(orient="top")),
        y=alt.Y("label:N", sort=finals, title="final label", axis=_names()),
    )
    shades = alt.Scale(domain=[0, 1], range=["#f1f4f9", "#1d4f91"], interpolate="rgb")
    cells = base.mark_rect(stroke="white", strokeWidth=2).encode(color=alt.Color("share:Q", scale=shades, legend=None))
    ink = alt.condition("datum.dark", alt.value("white"), alt.value(INK))
    chart = alt.layer(cells, base.mark_text().encode(text="text:N", color=ink))
    return titled(chart, f"Votes by final label: {title}", "Share of the votes on utterances of each label")


def emoticon_name(text: str) -> str:
    """An emoji's name; a text emoticon stays as it is.

    >>> emoticon_name("💔"), emoticon_name(":(")
    ('broken heart', ':(')
    """
    return emoji.demojize(text, delimiters=("", "")).replace("_", " ")


def _colour(name: str) -> str:
    return _ACCENT if name == _ALL else colours_of([name])[name]


def _names(**options: object) -> object:
    return altair().Axis(ticks=False, domain=False, labelAngle=0, labelColor=INK, **options)


def _panel_title(text: str, **options: Any) -> object:
    return altair().TitleParams(text=text, fontSize=13, frame="group", **options)


def _bars(
    table: list[dict[str, Any]],
    name: str,
    value: str,
    *,
    width: int,
    text: int,
    to: float,
    start: float = 0.0,
    step: int = 26,
    labels: list[str] | None = None,
    colour: str | None = None,
) -> Chart:
    """Bars in one colour or in the colours of `labels`; `text` pixels of the width are for the text beside them."""
    alt = altair()
    scale = alt.Scale(domain=[start, (to or 1.0) * width / (width - text)], nice=False)
    base = alt.Chart().encode(
        y=alt.Y(f"{name}:N", sort=labels, title=None, axis=_names()), x=alt.X(f"{value}:Q", axis=None, scale=scale)
    )
    if labels is None:
        bars = base.mark_bar(color=colour)
    else:
        bars = base.mark_bar().encode(color=alt.Color(f"{name}:N", scale=label_colours(labels), legend=None))
    texts = base.mark_text(align="left", dx=5).encode(text="text:N")
    return alt.layer(bars, texts, data=rows(table)).properties(width=width, height={"step": step})


def _heading(name: str, note: str, width: int) -> tuple[Chart, Chart]:
    """A line above a panel: its name on the left, a note on the right."""
    alt = altair()
    base = alt.Chart(rows([{"name": name, "note": note}])).encode(y=alt.value(-13))
    left = base.mark_text(align="left", color=INK, fontSize=13, fontWeight="bold")
    right = base.mark_text(align="right", color=QUIET)
    return left.encode(x=alt.value(0), text="name:N"), right.encode(x=alt.value(width), text="note:N")


def _histogram(counts: Distribution, first: int, last: int, *, tail: bool, colour: str, title: str | None) -> Chart:
    """The share of each value; values above `last` are added to it, since a long tail would hide the rest."""
    alt = altair()
    shares: dict[int, float] = {}
    for value, count in counts.counts.items():
        shares[min(value, last)] = shares.get(min(value, last), 0.0) + count / counts.total
    labels = f"datum.value == {last} ? '{last}+' : datum.label" if tail else "datum.label"
    axis = alt.Axis(grid=False, values=_ticks(first, last), labelExpr=labels)
    share_axis = alt.Axis(format=".0%", tickCount=3, domain=False, ticks=False)
    scale = alt.Scale(domain=[first - 0.5, last + 0.5], nice=False)
    return (
        alt.Chart(rows({"from": value - 0.46, "to": value + 0.46, "share": share} for value, share in shares.items()))
        .mark_rect(color=colour)
        .encode(
            x=alt.X("from:Q", axis=axis, title=title, scale=scale),
            x2="to:Q",
            y2=alt.datum(0),
            y=alt.Y("share:Q", title=None, scale=alt.Scale(zero=True), axis=share_axis),
        )
    )


def _ticks(first: int, last: int) -> list[int]:
    """`first`, `last`, and round values between them that are not too close to either."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100, 1000, 10**9) if (last - first) / step <= 12)
    inner = range(first - first % step + step, last, step)
    return [first, *(value for value in inner if 2 * (last - value) >= step and 2 * (value - first) >= step), last]
