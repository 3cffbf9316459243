"""The description of an encoder's graphs: the layout of its input, and reference scores to check on each CPU."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from emoscope.core.dialogue import Dialogue, Turn
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.files import whole_text, write_file
from emoscope.models.onnx.layout import Layout
from emoscope.models.text.window import Window

FILE = "network.json"
TOKENIZER = "tokenizer.json"
WEIGHTS = "weights.bin"
INT8, FLOAT = "int8.onnx", "float.onnx"
ROLES = ("start", "end", "mask", "padding")  # of special tokens


def named(file: str, network: str) -> str:
    """The name of a network's file, if a folder has several networks; the first has no name.

    >>> named(INT8, ""), named(INT8, "tasks")
    ('int8.onnx', 'tasks.int8.onnx')
    """
    return f"{network}.{file}" if network else file


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph's file, its scores of the reference dialogues, and how much they may differ on other machines."""

    file: str
    scores: tuple[tuple[float, ...], ...]
    tolerance: float


@dataclass(frozen=True, slots=True)
class Description:
    """The content of a network's `network.json`; `graphs` are in the order in which they are tried."""

    layout: Layout
    reference: tuple[Dialogue, ...]
    graphs: tuple[Graph, ...]

    def save(self, folder: Path, network: str = "") -> None:
        """Write `network.json`."""
        content = {
            **asdict(self.layout),
            "reference": [[[turn.text, turn.speaker] for turn in dialogue.turns] for dialogue in self.reference],
            "graphs": [asdict(graph) for graph in self.graphs],
        }
        write_file(folder / named(FILE, network), json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: Path, network: str = "") -> "Description":
        """Read `network.json`."""
        path = folder / named(FILE, network)
        try:
            content = json.loads(whole_text(path))
            return cls(
                layout=Layout(
                    window=Window(**{**content["window"], "names": tuple(content["window"]["names"])}),
                    pooling=str(content["pooling"]),
                    segments=bool(content["segments"]),
                    special=special_pieces(content),
                ),
                reference=tuple(
                    Dialogue(tuple(Turn(text, speaker) for text, speaker in turns)) for turns in content["reference"]
                ),
                graphs=tuple(_graph(graph) for graph in content["graphs"]),
            )
        except (json.JSONDecodeError, KeyError, TypeError, ValueError, EmoscopeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(path, f"is not an encoder's description ({error})") from None


def special_pieces(content: Mapping[str, Any]) -> dict[str, int]:
    """The ids of the special tokens in a description."""
    return {role: int(content["special"][role]) for role in ROLES}


def _graph(values: Mapping[str, Any]) -> Graph:
    file = str(values["file"])
    if Path(file).name != file:
        raise ValueError(f"graph {file!r} lies outside the folder")
    scores = tuple(tuple(float(score) for score in row) for row in values["scores"])
    return Graph(file, scores, float(values["tolerance"]))
