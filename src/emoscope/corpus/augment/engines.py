"""The translation engines by name."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from emoscope.core.errors import EmoscopeError
from emoscope.corpus.augment.translator import Engine

EngineName = Literal["apertium", "argos", "marian"]
# The languages to go through unless told otherwise.
DEFAULT_VIA: Mapping[EngineName, str] = MappingProxyType(
    {"apertium": "es,ca", "argos": "de,fr,it", "marian": "de,fr,it"}
)


def open_engine(name: EngineName, model: str | None = None) -> Engine:
    """The named engine; `model` names Marian's models."""
    if (name == "marian") != (model is not None):
        raise EmoscopeError("the engine marian needs a model, and no other engine takes one")
    if name == "apertium":
        from emoscope.corpus.augment.apertium import Apertium

        return Apertium()
    if name == "argos":
        from emoscope.corpus.augment.argos import Argos

        return Argos()
    from emoscope.corpus.augment.marian import Marian

    return Marian(str(model))
