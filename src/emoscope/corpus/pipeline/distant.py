"""The step `distant`: label texts by their emotion word."""

from emoscope.core.emotion_words import TRIGGERS
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.pipeline.plan import CorpusPlan
from emoscope.corpus.pipeline.rows import Row, text_of
from emoscope.corpus.pipeline.step import PipelineStep, Stage, StepContext
from emoscope.corpus.sources.distant import DistinctTexts, Duplicates, Rejection, label_text


class DistantStep(PipelineStep):
    """Label texts by the emotion word before "that", "because" or "when", and mask it, as in IEST."""

    takes = frozenset({Stage.DIALOGUES})
    gives = Stage.LABELLED

    joined: bool = False
    cue_beginnings: bool = False
    duplicates: Duplicates = Duplicates.MASKED

    def check(self, plan: CorpusPlan) -> None:
        if unknown := [label for label in plan.info.labels if label not in TRIGGERS]:
            raise EmoscopeError(f"no emotion words for the label {unknown[0]!r}; there are: {', '.join(TRIGGERS)}")

    def run(self, context: StepContext) -> None:
        distinct = DistinctTexts(self.duplicates)

        def labelled(row: Row) -> Row | str:
            text = text_of(row)
            tweet = label_text(text, joined=self.joined, cue_beginnings=self.cue_beginnings)
            if isinstance(tweet, Rejection):
                return tweet.value
            if tweet.emotion not in context.plan.info.labels:
                return f"label {tweet.emotion!r} is not the plan's"
            if not distinct.is_new(text, tweet):
                return Rejection.DUPLICATE.value
            return {**row, "turns": [{"text": tweet.text}], "label": tweet.emotion}

        context.rewrite("labelling by emotion words", labelled)
