"""nano: hashed n-grams and a linear classifier; the fastest system, embedded in every installation."""

from typing import ClassVar

from emoscope.models.block import Block, Floats
from emoscope.models.linear.ngram_block import NgramBlock
from emoscope.systems.base import System, SystemMetadata
from emoscope.systems.settings import Shift, SystemSettings
from emoscope.tasks import TASKS


class NanoSettings(SystemSettings):
    """The class prior of real traffic, if the task publishes it."""

    shift: Shift = "natural"


class Nano(System):
    """Word and character n-grams of the last three turns, logistic regression, corrected for the class prior."""

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="nano",
        summary="hashed word and character n-grams of three turns, logistic regression, class-prior correction",
        tasks=tuple(TASKS),
        any_task=True,
        team="emoscope",
        extras=("linear",),
        networks=False,
    )
    settings: NanoSettings

    def build(self) -> Block:
        return NgramBlock(sorted(self.task.labels))

    def decision_prior(self) -> Floats | None:
        return self.natural_prior
