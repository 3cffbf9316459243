"""A spaCy component: the emotion of a document, or of each of its sentences.

>>> import spacy
>>> nlp = spacy.blank("en")
>>> _ = nlp.add_pipe("emoscope", config={"model": "nano"})
>>> nlp("I hate you")._.emotion.label
'angry'
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from emoscope.core.extras import require
from emoscope.detector import Detector, load

require("spacy", extra="spacy")
from spacy.language import Language  # noqa: E402
from spacy.tokens import Doc, Span  # noqa: E402


class EmotionComponent:
    """Sets `doc._.emotion`, the `Detection` of the text; with `sentences`, also `span._.emotion` of each sentence.

    Sentences are treated as the turns of a dialogue, each with the sentences before it as context.
    """

    def __init__(self, detector: Detector, *, sentences: bool = False) -> None:
        self.detector = detector
        self.sentences = sentences
        for kind in (Doc, Span) if sentences else (Doc,):
            if not kind.has_extension("emotion"):
                kind.set_extension("emotion", default=None)

    def __call__(self, doc: Doc) -> Doc:
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 128) -> Iterator[Doc]:
        """Process documents in batches."""
        documents = iter(stream)
        while batch := list(islice(documents, batch_size)):
            for doc, detection in zip(batch, self.detector.detect_many(doc.text for doc in batch), strict=True):
                doc._.emotion = detection
                if self.sentences:
                    self._set_sentences([span for span in doc.sents if span.text.strip()])
                yield doc

    def _set_sentences(self, spans: list[Span]) -> None:
        if spans:
            for span, found in zip(spans, self.detector.timeline([span.text for span in spans]), strict=True):
                span._.emotion = found

    def to_bytes(self, **_: Any) -> bytes:
        """Return no bytes: the model is loaded by name."""
        return b""

    def from_bytes(self, _: bytes, **__: Any) -> "EmotionComponent":
        return self

    def to_disk(self, *_: Any, **__: Any) -> None:
        """Write nothing: the model is loaded by name."""

    def from_disk(self, *_: Any, **__: Any) -> "EmotionComponent":
        return self


@Language.factory(
    "emoscope", default_config={"model": "default", "labels": None, "sentences": False}, assigns=["doc._.emotion"]
)
def make_component(nlp: Language, name: str, model: str, labels: str | None, sentences: bool) -> EmotionComponent:
    """Create the component for `nlp.add_pipe("emoscope")`."""
    del nlp, name
    return EmotionComponent(load(model, labels=labels), sentences=sentences)
