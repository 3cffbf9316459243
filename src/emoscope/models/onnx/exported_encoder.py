"""A fine-tuned transformer as a block that needs no torch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emoscope.core.dialogue import Example
from emoscope.core.files import whole_text
from emoscope.models.block import Floats, Truncated
from emoscope.models.native.encoder import NativeEncoder, UnsupportedGraphError
from emoscope.models.onnx.description import INT8, TOKENIZER, Description, named
from emoscope.models.onnx.exported import Exported
from emoscope.models.onnx.layout import Layout, batches_in_order, batches_of_equal_length
from emoscope.models.onnx.session import open_first
from emoscope.models.probabilities import head_columns
from emoscope.models.text.tokenizer import Tokenizer
from emoscope.models.text.window import TokenRow
from emoscope.parallel.threads import in_parallel

ROWS_AT_ONCE = 128


class ExportedEncoder(Exported):
    """A transformer as graphs; with `heads`, one pass predicts all label sets. Safe to use from many threads.

    `network` is its name, if its folder has several: see `ExportedNetworks`.

    An example's logits are the same alone and in any batch, because nothing is ever padded: `encoder.c` computes rows
    of any length together, onnxruntime only rows of the same length.
    """

    layout: Layout
    tokenizer: Tokenizer
    kernel: str
    _scores: Callable[[Sequence[TokenRow]], Floats]
    _batches: Callable[[Iterable[int]], Iterator[list[int]]]

    def __init__(
        self,
        labels: Sequence[str] = (),
        questions: Sequence[Mapping[str, Any]] = (),
        heads: Mapping[str, Sequence[str]] | None = None,
        network: str = "",
    ) -> None:
        self.network = network
        self.heads = {name: tuple(names) for name, names in (heads or {}).items()}
        super().__init__([label for names in self.heads.values() for label in names] or labels, questions)

    def open(self, folder: Path) -> None:
        description = Description.load(folder, self.network)
        layout = self.layout = description.layout
        self.tokenizer = Tokenizer.read(whole_text(folder / TOKENIZER), **layout.special)
        reference = layout.window.rows([Example.last(dialogue) for dialogue in description.reference], self.tokenizer)
        native = self._native(folder, description, reference)
        if native is not None:
            self.kernel = "encoder.c"
            self._scores, self._batches = native.scores, batches_in_order
            return
        run, file = open_first(folder, description.graphs, [layout.feed([row]) for row in reference])
        self.kernel = "onnxruntime" if file == named(INT8, self.network) else "onnxruntime in single precision"
        self._scores, self._batches = lambda rows: run(layout.feed(rows))[0], batches_of_equal_length

    def _native(self, folder: Path, description: Description, reference: Sequence[TokenRow]) -> NativeEncoder | None:
        """The 8-bit graph in encoder.c, if it reproduces the stored scores on this machine."""
        file = named(INT8, self.network)
        stored = next((graph for graph in description.graphs if graph.file == file), None)
        if stored is None:
            return None
        try:
            native = NativeEncoder(folder / file, description.layout)
        except (UnsupportedGraphError, OSError, ValueError, LookupError):  # onnxruntime reports damaged files better
            return None
        error = np.abs(native.scores(reference) - np.array(stored.scores)).max()
        return native if error <= stored.tolerance else None

    def logits(self, examples: Sequence[Example]) -> tuple[Floats, Truncated]:
        if len(examples) == 1:
            rows = self.layout.window.rows(examples, self.tokenizer)
            return self._scores(rows), np.array([rows[0].cut])
        rows = []

        def lengths() -> Iterator[int]:
            """Lay out the examples in parts, so that computing can start early."""
            for first in range(0, len(examples), ROWS_AT_ONCE):
                new_rows = self.layout.window.rows(examples[first : first + ROWS_AT_ONCE], self.tokenizer)
                rows.extend(new_rows)
                yield from [len(row.token_ids) for row in new_rows]

        def computed(batch: list[int]) -> tuple[list[int], Floats]:
            return batch, self._scores([rows[place] for place in batch])

        batches = in_parallel(computed, self._batches(lengths()))
        logits = np.empty((len(rows), batches[0][1].shape[1]))
        for batch, scores in batches:
            logits[batch] = scores
        return logits, np.array([row.cut for row in rows])

    def probabilities(self, logits: Floats) -> Floats:
        if not self.heads:
            return super().probabilities(logits)
        sizes = [len(labels) for labels in self.heads.values()]
        first = np.cumsum([0, *sizes[:-1]])
        raised = np.exp(logits - np.repeat(np.maximum.reduceat(logits, first, axis=1), sizes, axis=1))
        probabilities: Floats = raised / np.repeat(np.add.reduceat(raised, first, axis=1), sizes, axis=1)
        return probabilities

    def columns(self, head: str) -> slice:
        return head_columns(self.heads, head) if self.heads else slice(None)

    def overlong(self, examples: Sequence[Example]) -> Truncated:
        return self.layout.window.overlong(examples, self.tokenizer)

    def turns_read(self) -> int:
        return self.layout.window.context

    def kernels(self) -> frozenset[str]:
        return frozenset({self.kernel})

    def config(self) -> dict[str, Any]:
        return {"heads": self.heads} if self.heads else super().config()
