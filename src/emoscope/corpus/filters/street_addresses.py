"""Street addresses as written in English, German, French, Spanish and Italian, and post boxes."""

import re
from collections.abc import Iterator

from emoscope.corpus.filters.spans import Kind, Span

# After a number and a name, hardly ever anything but a street.
_STREETS = (
    "street|avenue|ave|boulevard|blvd|lane|rd|crescent|cres|terrace|parkway|pkwy|turnpike|esplanade|mews|freeway|hwy"
)
# Also ordinary words ("5 minutes drive", "10 park visits"): these need capitals, or "live at" before them.
_ALSO_WORDS = (
    "road|st|str|drive|dr|way|court|ct|place|pl|square|sq|circle|cir|alley|close|gardens?|grove|heights|hill|hills|park|"
    "parade|path|plaza|row|walk|view|views|loop|bridge|coves?|cove|crossing|crossroad|crossroads|estates?|expressway|"
    "extensions?|falls|ferry|fields?|flats?|fords?|forests?|forges?|forks?|fort|glens?|greens?|groves|harbors?|havens?|"
    "hollow|inlet|islands?|isle|junctions?|keys?|knolls?|lakes?|landing|lights?|locks?|lodge|mall|manors?|meadows?|mills?|"
    "mission|motorway|mountains?|neck|orchard|oval|overpass|parkways|passage|pass|pike|pines?|plains?|points?|ports?|"
    "prairie|radial|ramp|ranch|rapids?|rest|ridges?|river|roads|route|rue|run|shoals?|shores?|skyway|springs?|spurs?|"
    "squares|station|stravenue|stream|streets|summit|throughway|trace|track|trafficway|trail|tunnel|underpass|unions?|"
    "valleys?|via|viaduct|villages?|ville|vista|walks|ways|wells?|quay|strand|green|crest|gate|end|drove|bypass"
)
_UNIT = r"(?:flat|apt|apartment|unit|suite|studio|room|floor|block|bldg|building|no)\.?\s*(?:#\s*)?\d*[a-z]?\d*"
_AFTER = (
    r"(?:\.?,?\s+(?:n|s|e|w|ne|nw|se|sw|north|south|east|west)\b)?\.?"
    r"(?:,?\s+(?:flat|apt|apartment|unit|suite|room|floor|#)\.?\s*\d+[a-z]?\b)?"
)
_NUMBER = r"(?<![\w.,$€£/:-])(?:(?:" + _UNIT + r"),?\s+)?\d{1,5}(?:\s?[a-d])?(?:[/-]\d{1,5})?,?"
_NAME_WORD = r"(?:[^\W\d_][\w'’.-]*|\d{1,3}(?:st|nd|rd|th))"
_CAPITAL_WORD = r"(?:[A-ZÀ-Ý][\w'’.-]*|\d{1,3}(?:st|nd|rd|th))"

_PLAIN = re.compile(rf"{_NUMBER}\s+(?:{_NAME_WORD}\s+){{1,3}}?(?:{_STREETS})\b{_AFTER}", re.IGNORECASE)
_CAPITALS = re.compile(
    rf"(?i:{_NUMBER})\s+(?:{_CAPITAL_WORD}\s+){{1,3}}(?=[A-Z])(?i:{_STREETS}|{_ALSO_WORDS})\b(?i:{_AFTER})"
)
_SAID_TO_BE = re.compile(
    rf"\b(?:live[sd]?|living|stay|staying|address|adress|addr|house|deliver(?:ed)?|ship(?:ped)?|send|moved|meet|party|pick"
    rf"|drop|come|home|flat|place)\b[^.!?\d]{{0,25}}?(?P<address>{_NUMBER}\s+(?:{_NAME_WORD}\s+){{1,3}}?"
    rf"(?:{_STREETS}|{_ALSO_WORDS})\b{_AFTER})",
    re.IGNORECASE,
)
# A flat in a building: "Studio 6, Roberts Gardens".
_UNIT_FIRST = re.compile(
    rf"\b(?i:flat|apt|apartment|unit|suite|studio)\.?\s*\d{{1,4}}[a-zA-Z]?,\s+(?:{_CAPITAL_WORD}\s+){{1,3}}"
    rf"(?=[A-Z])(?i:{_STREETS}|{_ALSO_WORDS})\b"
)
_POST_BOX = re.compile(r"\b(?:p\.?\s?o\.?\s?box|postfach|apartado(?:\s+postal)?)\s+\d{1,6}\b", re.IGNORECASE)
_HOUSE = r"\d{1,5}(?:\s?[a-d]\b)?(?:\s?[/-]\s?\d{1,4})?"
_GERMAN = re.compile(
    rf"\b(?:[A-ZÄÖÜ][\w.-]*[\s-])?[A-ZÄÖÜ]?[\w-]*(?:straße|strasse|str\.|[Ss]tr\b\.?|gasse|allee|platz|weg|damm|ufer|"
    rf"Straße|Strasse|Gasse|Allee|Platz|Weg|Ring|Damm|Ufer)\s+{_HOUSE}(?!\w)"
)
_FRENCH = re.compile(
    rf"(?<![\w.,-])\d{{1,4}}(?i:\s?(?:bis|ter))?,?\s+"
    rf"(?i:rue|avenue|av\.?|boulevard|bd|chemin|place|impasse|all[ée]e|quai|route|cours|passage)\s+"
    rf"(?:(?i:de|du|des|la|le|les|de\sla)\s+|(?i:l|d)['’])*{_CAPITAL_WORD}(?:[\s-]{_CAPITAL_WORD}){{0,3}}"
)
_FRENCH_NUMBER_LAST = re.compile(
    rf"\b(?i:rue|avenue|boulevard|chemin|ruelle|route|quai|impasse|place|all[ée]e|sentier)\s+"
    rf"(?:(?i:de|du|des|la|le|les|de\sla)\s+|(?i:l|d)['’])*{_CAPITAL_WORD}(?:[\s-]{_CAPITAL_WORD}){{0,3}},?\s+{_HOUSE}(?!\w)"
)
_SOUTHERN = re.compile(
    rf"\b(?i:calle|avenida|avda\.?|av\.|paseo|plaza|pasaje|camino|carrer|ronda|rambla|glorieta|urbanización|vial|cuesta|"
    rf"callejón|acceso|alameda|cañada|via|viale|piazza|corso|vicolo|largo|strada|rotonda|contrada|borgo|canale|incrocio|"
    rf"stretto|rua|travessa|praça|estrada)\s+(?:(?i:de|del|della|delle|dei|la|el|los|las|da|do|dos|di)\s+)*"
    rf"(?:{_CAPITAL_WORD}[,]?\s+){{1,4}}(?:(?i:de|del|la)\s+{_CAPITAL_WORD}\s+)?(?i:n[ºo°.]?\s*)?{_HOUSE}(?!\w)"
    rf"(?:,?\s+(?i:piso|puerta|apt\.?|apto\.?|interno|appartamento|piano|bajo|int\.?)\s*\d+\w?)?"
)
# After a number these make a measure or an idiom, not the name of a street.
_IDIOM = re.compile(
    r"\d\S*\s+(?:way|lane|star|minutes?|mins?|hours?|hrs?|miles?|km|meters?|metres?|days?|weeks?|months?|years?|times?|"
    r"blocks?|people|dollars?|bucks?|euros?|pm|am|of|in|on|for|from|and|or|to|at|more|other|cars?|houses?|is|was|lanes?|"
    r"percent|x)\b",
    re.IGNORECASE,
)
_DIGIT_OR_BOX = re.compile(r"\d")


def street_addresses(text: str) -> Iterator[Span]:
    """Every street with a house number, and every post box.

    >>> text = "i live at 12 oak road, its a 5 star street"
    >>> [text[span.start : span.end] for span in street_addresses(text)]
    ['12 oak road']
    """
    if not _DIGIT_OR_BOX.search(text):
        return
    for pattern in (_CAPITALS, _UNIT_FIRST, _POST_BOX, _GERMAN, _FRENCH, _FRENCH_NUMBER_LAST, _SOUTHERN):
        for match in pattern.finditer(text):
            yield Span(match.start(), match.end(), Kind.ADDRESS)
    for match in _PLAIN.finditer(text):
        if not _IDIOM.search(match.group()):
            yield Span(match.start(), match.end(), Kind.ADDRESS)
    for match in _SAID_TO_BE.finditer(text):
        if not _IDIOM.search(match["address"]):
            yield Span(match.start("address"), match.end("address"), Kind.ADDRESS)
