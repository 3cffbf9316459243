"""The steps a plan can use. Step `x` is the class `XStep` in `x.py`; to add one, write that file and list it here."""

from emoscope.core.registry import Registry
from emoscope.corpus.pipeline.step import PipelineStep

STEPS: Registry[type[PipelineStep]] = Registry("step")
for _name in (
    "collect",
    "windows",
    "sample",
    "dedupe",
    "filter",
    "mine",
    "distant",
    "annotate",
    "aggregate",
    "augment",
    "split",
    "datasheet",
):
    STEPS.add(_name, f"emoscope.corpus.pipeline.{_name}:{_name.title()}Step")
