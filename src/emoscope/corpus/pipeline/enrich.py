"""The steps that make more of what there is: mine, for dialogues worth a judgement, and augment, for other wordings."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from emoscope.core.dialogue import Dialogue
from emoscope.core.errors import EmoscopeError
from emoscope.corpus.augment.augment import augment
from emoscope.corpus.augment.backtranslation import BackTranslator
from emoscope.corpus.augment.engines import EngineName, open_engine
from emoscope.corpus.augment.files import Variants
from emoscope.corpus.mining.mine import CANDIDATES, OTHERS, MiningSettings, mine, read_seeds
from emoscope.corpus.pipeline.rows import ROWS, Row, read_rows, rows_file
from emoscope.corpus.pipeline.step import RANDOM_DRAW, Counts, Stage, Step, Tools, Work
from emoscope.corpus.sources.windows import sample

if TYPE_CHECKING:
    from emoscope.corpus.pipeline.plan import Plan


class Mine(Step):
    """Choose what is worth a judgement: `natural` dialogues at random, to evaluate on, and candidates, to learn from.

    Candidates resemble labelled seeds. They come from other logs' dialogues than the natural ones, so that none of
    them has to be thrown away when the splits are made. The first draw is not disturbed by the second: labels are as
    frequent in it as in the logs.
    """

    name: ClassVar[str] = "mine"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.DIALOGUES})

    seeds: str
    natural: int = Field(ge=1)
    per_class: int | None = Field(default=None, ge=1)
    others: int | None = Field(default=None, ge=0)
    recall: float = Field(default=0.5, gt=0, le=1)
    threshold: float | None = Field(default=None, ge=-1, le=1)
    encoder: str = "ngrams"
    learn: bool = True
    prune: bool = True

    def check(self, plan: "Plan") -> None:
        """The seeds must be there, with labels of the plan."""
        seeds = self._seeds(plan)
        if unknown := sorted(set(seeds) - set(plan.about.labels) - {OTHERS}):
            raise EmoscopeError(f"{self.seeds}: label {unknown[0]!r} is not one of the plan's")

    def outside(self, plan: "Plan") -> Sequence[Path]:
        """The seeds."""
        return plan.files([self.seeds])

    def depends(self, plan: "Plan", tools: Tools) -> Any:
        """On what the vectors depend on."""
        return tools.embedder(self._encoder(plan)).name

    def _encoder(self, plan: "Plan") -> str:
        found = plan.files([self.encoder])
        return str(found[0]) if found else self.encoder

    def _seeds(self, plan: "Plan") -> dict[str, list[Dialogue]]:
        """The seeds by label; those of the neutral label under the name that mining has for it."""
        files = plan.files([self.seeds])
        if not files:
            raise EmoscopeError(f"no file {self.seeds!r} with seeds in {plan.path.parent}")
        found = read_seeds(files[0])
        if plan.about.neutral in found:
            found[OTHERS] = found.pop(plan.about.neutral)
        return found

    def run(self, work: Work) -> Counts:
        """Draw, then mine the rest; its vectors outlive a kill."""
        about = work.plan.about
        counts = Counts()
        places = enumerate(row["source"] for row in read_rows(work.before))
        drawn = sample(work.watch("drawing natural dialogues", places), self.natural, seed=about.seed)
        natural, sources = {place for place, _ in drawn}, {source for _, source in drawn}
        pool = work.cache / "pool"
        pool.mkdir(exist_ok=True)
        with rows_file(pool) as left, rows_file(work.folder) as out:
            for place, row in enumerate(work.watch("setting them apart", read_rows(work.before))):
                counts.read += 1
                if place in natural:
                    out.write({**row, "draw": RANDOM_DRAW})
                elif row["source"] in sources:
                    counts.dropped["of the same dialogue as a natural one"] += 1
                else:
                    left.write(row)
            if left.written:
                found = self._mined(work, pool / ROWS)
                for row in read_rows(work.cache / "mined", CANDIDATES):
                    kept = {key: value for key, value in row.items() if not key.startswith("mined_")}
                    chosen = "others" if row["mined_as"] == OTHERS else f"mined as {row['mined_as']}"
                    out.write({**kept, "draw": chosen})
                counts.more["mined"] = found
            counts.written = out.written
        counts.dropped["neither drawn nor near to the seeds"] = counts.read - counts.written - counts.dropped.total()
        counts.more["natural"] = len(natural)
        return counts

    def _mined(self, work: Work, pool: Path) -> dict[str, Any]:
        settings = MiningSettings(
            threshold=self.threshold,
            recall=self.recall,
            learn=self.learn,
            per_class=self.per_class,
            others=self.others,
            prune=self.prune,
            seed=work.plan.about.seed,
        )
        embedder = work.tools.embedder(self._encoder(work.plan))
        seeds = self._seeds(work.plan)
        folder, spread = work.cache / "mined", work.tools.spread
        return asdict(mine(str(pool), seeds, folder, embedder, settings, watch=work.watch, spread=spread))


class Augment(Step):
    """Give the last turn other wordings, there and back through other languages; they are for training only."""

    name: ClassVar[str] = "augment"
    takes: ClassVar[frozenset[Stage]] = frozenset({Stage.LABELLED})

    engine: EngineName
    via: tuple[str, ...] = Field(min_length=1)
    similarity: float | None = Field(default=None, ge=0, le=1)
    model: str | None = None  # for marian: folders or hub names, with {source} and {target} in them

    def check(self, plan: "Plan") -> None:  # noqa: ARG002
        """The engine and its languages must be installed."""
        self._translator()

    def depends(self, plan: "Plan", tools: Tools) -> Any:  # noqa: ARG002
        """On the engine's version, too."""
        return self._translator().description()

    def _translator(self) -> BackTranslator:
        return BackTranslator(open_engine(self.engine, self.model), self.via, similarity=self.similarity)

    def run(self, work: Work) -> Counts:
        """Add `variants` to the rows; what is translated outlives a kill."""
        made = augment(
            _Rows(work.before),
            work.cache / ROWS,
            self._translator(),
            watch=lambda rows: work.watch("translating", rows),
        )
        shutil.copyfile(work.cache / ROWS, work.folder / ROWS)
        return Counts(made.dialogues, made.dialogues, more={"variants": asdict(made)["via"]})


class _Rows:
    """A step's rows, as the file of dialogues that `augment` asks for; of each, the last turn alone is translated."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = str(folder / ROWS)

    def check_output(self, output: str) -> None:
        """Any name will do."""

    def items(self, languages: Sequence[str]) -> Iterator[Row]:  # noqa: ARG002 - rows have no variants yet
        """The rows."""
        return read_rows(self.folder)

    def texts(self, item: Row) -> list[str]:
        """The last turn."""
        return [item["turns"][-1]["text"]]

    def reworded(self, item: Row, variants: Variants) -> Row:
        """The row with the variants that are kept."""
        kept = {language: variant.text for language, variant in variants[0].items() if variant.text is not None}
        return {**item, "variants": kept} if kept else item

    @contextmanager
    def writer(self, output: str) -> Iterator[Callable[[Row], None]]:
        """A file of rows."""
        with rows_file(Path(output).parent, Path(output).name) as out:
            yield out.write
