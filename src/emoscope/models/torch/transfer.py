"""Transfer learning: a network learns from other tasks, or from text alone, then its own task with a new head."""

import tempfile
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, one_hot
from emoscope.models.ensembles.combine import Mean
from emoscope.models.export.exporter import Exporter
from emoscope.models.torch.classifier import NeuralClassifier
from emoscope.models.torch.network import NETWORKS, Network
from emoscope.models.torch.training import Training, seed_everything
from emoscope.tasks.datasets.auxiliary import source, source_examples


class Transferred(Mean):
    """A network that is prepared once, trained on the `sources` in turn, and then on the task, `copies` times.

    The copies differ only in their seeds; their probabilities are averaged. They share costly preparation, such as
    training a language model. `limit` is the maximum number of examples of each source; 0 leaves the sources out.
    """

    def __init__(
        self,
        labels: Sequence[str],
        network: str,
        settings: Mapping[str, Any] | None = None,
        training: Training | Mapping[str, Any] | None = None,
        sources: Sequence[str] = (),
        source_training: Training | Mapping[str, Any] | None = None,
        limit: int | None = None,
        copies: int = 1,
    ) -> None:
        for name in sources:
            source(name)
        if copies < 1:
            raise EmoscopeError("copies must be at least 1")
        self.target = NeuralClassifier(labels, network, settings, training)
        super().__init__([deepcopy(self.target) for _ in range(copies)])
        self.sources = tuple(sources)
        self.source_training = Training.of(source_training)
        self.limit = limit

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        network = self._learnt_from_sources(examples, fit_context)
        targets = one_hot(labels, self.labels)
        for number, copy in enumerate(self.parts):
            part = fit_context.part(f"copy{number}", seed=fit_context.seed * 101 + number)
            seed_everything(part.seed)
            start = self._copy(network) if number + 1 < len(self.parts) else network
            start.replace_head(len(self.labels))
            assert isinstance(copy, NeuralClassifier)
            copy.fit_soft(examples, targets, part, start=start)
        return self

    def _learnt_from_sources(self, examples: Sequence[Example], fit_context: FitContext) -> Network:
        names = self.sources if self.limit != 0 else ()
        sources = {name: source_examples(name, fit_context, self.limit) for name in names}
        seed_everything(fit_context.seed)
        network = NETWORKS[self.target.network_name](len(self.labels), **self.target.settings)
        network.prepare([*examples, *(example for corpus in sources.values() for example in corpus)], fit_context)
        for name, corpus in sources.items():
            labels = source(name).labels
            network.replace_head(len(labels))
            learner = NeuralClassifier(labels, self.target.network_name, self.target.settings, self.source_training)
            targets = one_hot([str(example.label) for example in corpus], labels)
            learner.fit_soft(corpus, targets, fit_context.part(name), start=network)
        return network

    def _copy(self, network: Network) -> Network:
        """A copy, made by saving and loading the assets, since not everything in a network can be copied."""
        copy = NETWORKS[self.target.network_name](network.outputs, **self.target.settings)
        with tempfile.TemporaryDirectory() as folder:
            network.save_assets(Path(folder))
            copy.load_assets(Path(folder))
        copy.load_state_dict(network.state_dict())
        return copy

    def corpora(self) -> frozenset[str]:
        return frozenset(self.sources if self.limit != 0 else ())

    def export(self, exporter: Exporter) -> Block:
        return Mean([copy.export(exporter) for copy in self.parts])

    def config(self) -> dict[str, Any]:
        return {
            "labels": list(self.labels),
            **self.target.network_config(),
            "sources": list(self.sources),
            "source_training": asdict(self.source_training),
            "limit": self.limit,
            "copies": len(self.parts),
        }

    @classmethod
    def from_config(cls, config: Mapping[str, Any], children: Mapping[str, Block]) -> Self:
        transferred = cls(**config)
        transferred.set_children(children)
        return transferred
