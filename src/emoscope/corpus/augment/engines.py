"""The translation engines by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.augment.translator import Engine

EngineName = Literal["apertium", "argos", "marian"]
# The default pivot languages.
DEFAULT_VIA: Mapping[EngineName, str] = MappingProxyType(
    {"apertium": "es,ca", "argos": "de,fr,it", "marian": "de,fr,it"}
)


def open_engine(name: EngineName, model: str | None = None, beam_size: int | None = None) -> Engine:
    """Open the named engine; only Marian takes a `model` and a `beam_size`."""
    if (name == "marian") != (model is not None):
        raise EmoscopeError("the engine marian needs a model, and no other engine takes one")
    if beam_size is not None and name != "marian":
        raise EmoscopeError(f"the engine {name} takes no beam size")
    if name == "apertium":
        from emoscope.corpus.augment.apertium import Apertium

        return Apertium()
    if name == "argos":
        from emoscope.corpus.augment.argos import Argos

        return Argos()
    from emoscope.corpus.augment.marian import BEAM_SIZE, Marian

    return Marian(str(model), beam_size=beam_size or BEAM_SIZE)
