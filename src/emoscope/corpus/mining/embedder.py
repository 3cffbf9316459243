"""What turns dialogues into vectors. The command line hands one in; the corpus tools know no model."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from emoscope.core.dialogue import Dialogue

Floats = NDArray[np.floating[Any]]


class Embedder(Protocol):
    """Gives dialogues that express alike vectors of a like direction."""

    @property
    def name(self) -> str:
        """What the vectors depend on, weights included: vectors made under another name are not used."""

    def vectors(self, dialogues: Sequence[Dialogue]) -> Floats:
        """A row for each dialogue, about its last turn."""
