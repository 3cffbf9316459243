"""The step `distant`: label texts by their emotion word."""

from hashlib import blake2b

from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import Row, text_of
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.sources.distant import Rejection, label_text


class DistantStep(PipelineStep):
    """Label texts by the emotion word before "that", "because" or "when", and mask it, as in IEST."""

    takes = frozenset({Stage.DIALOGUES})
    gives = Stage.LABELLED

    def check(self, plan: CorpusPlan) -> None:
        if unknown := [label for label in plan.info.labels if label not in TRIGGERS]:
            raise EmoscopeError(f"no emotion words for the label {unknown[0]!r}; there are: {', '.join(TRIGGERS)}")

    def run(self, context: StepContext) -> None:
        seen: set[bytes] = set()

        def labelled(row: Row) -> Row | str:
            tweet = label_text(text_of(row))
            if isinstance(tweet, Rejection):
                return tweet.value
            digest = blake2b(tweet.text.encode(), digest_size=16).digest()
            if digest in seen:
                return Rejection.DUPLICATE.value
            if tweet.emotion not in context.plan.info.labels:
                return f"label {tweet.emotion!r} is not the plan's"
            seen.add(digest)
            return {**row, "turns": [{"text": tweet.text}], "label": tweet.emotion}

        context.rewrite("labelling by emotion words", labelled)
