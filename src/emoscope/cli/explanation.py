"""An explanation on the screen: the turns, with words for the answer marked green and words against it red."""

import math
from typing import TYPE_CHECKING

from rich.console import Console
from rich.style import Style
from rich.text import Text

from emoscope.cli.turns import CONTROLS
from emoscope.core.colours import COLOURS

if TYPE_CHECKING:
    from emoscope.detector.explain import Explanation, TurnContribution

# Like a highlighter pen, faint to strong: dark letters on these read well on a dark screen and on a light one.
FOR = ("#d5f0db", "#a6e0b4", "#6fcb87", "#37b35b")
AGAINST = ("#fbdad6", "#f5b1a9", "#ec8177", "#e0574b")
_UNMARKED = 0.06  # words with less than this share of the strongest weight are not marked


def show_explanation(screen: Console, explanation: "Explanation") -> None:
    """Print an explanation: in colour if the terminal has colours, else with a number after each word."""
    colours = None if screen.no_color else screen.color_system
    strongest = max((abs(word.contribution) for turn in explanation.turns for word in turn.words), default=0.0)
    name = (explanation.label, f"bold {COLOURS.get(explanation.label, 'white')}")
    added = explanation.log_odds - explanation.baseline
    total = f" {explanation.score:.1%}: log-odds {explanation.log_odds:+.2f}, of which the turns {added:+.2f}"
    screen.print(Text.assemble(name, total))
    for turn in explanation.turns:
        amount = f"{turn.contribution:+7.2f}  " if turn.read else "      -  "
        who = f"{turn.turn.speaker}: " if turn.turn.speaker else ""
        line = Text.assemble(amount, (who, "dim"), marked(turn, strongest, colours))
        line.plain = line.plain.translate(CONTROLS)  # one sign for one, so that styles keep their places
        screen.print(line)
    meaning = "green for it, red against it" if colours else "[+] for it, [-] against it"
    silent = 1 / (1 + math.exp(-explanation.baseline))
    nothing = f"With nothing said: {silent:.2%} ({explanation.baseline:+.2f})."
    screen.print(Text(f"{meaning}; +0.7 doubles the odds. {nothing}", style="dim"))
    if not all(turn.read for turn in explanation.turns):
        screen.print(Text("Turns marked - are older than what the model reads.", style="dim"))


def marked(turn: "TurnContribution", strongest: float, colours: str | None) -> Text:
    """The turn's text with each word marked by its weight relative to the strongest word's.

    `colours` is what the terminal can show, in rich's terms; without any, the numbers follow the words.

    >>> from emoscope.detector.explain import TurnContribution, WordContribution
    >>> from emoscope.core.dialogue import Turn
    >>> words = (WordContribution("so", 0, 2, 0.01), WordContribution("sad", 3, 6, 2.0))
    >>> marked(TurnContribution(Turn("so sad"), 2.01, words), 2.0, None).plain
    'so sad[+2.0]'
    """
    marked_text, end = Text(style="" if turn.read else "dim"), 0
    for word in turn.words:
        marked_text.append(turn.turn.text[end : word.start])
        weight = abs(word.contribution) / strongest if strongest else 0.0
        if weight < _UNMARKED:
            marked_text.append(word.text)
        elif colours is None:
            marked_text.append(f"{word.text}[{word.contribution:+.1f}]")
        else:
            marked_text.append(word.text, _pen(weight, word.contribution > 0, colours))
        end = word.end
    return marked_text.append(turn.turn.text[end:])


def _pen(weight: float, speaks_for: bool, colours: str) -> Style:
    strong = weight > 0.5
    if colours == "standard":  # sixteen colours have no faint ones: colour the letters, not the background
        return Style(color="green" if speaks_for else "red", bold=strong)
    shades = FOR if speaks_for else AGAINST
    return Style(color="black", bgcolor=shades[min(len(shades) - 1, int(weight * len(shades)))], bold=strong)
