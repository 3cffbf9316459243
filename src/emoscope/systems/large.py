"""large: emoscope's own, as accurate as we can make it; an encoder taught emotion first, then an ensemble of folds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Self

from emoscope.core.dialogue import Example
from emoscope.core.emotion_words import EMOTION_OF
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.models.features.base import load_json
from emoscope.models.torch.fine_tuning import FINE_TUNING
from emoscope.systems.base import SystemMetadata
from emoscope.systems.recipe import PACKAGES, Recipe
from emoscope.tasks import TASKS
from emoscope.tasks.datasets.affect import IN_DOMAIN, affect_labels, auxiliary_examples

# How the members of the ensemble read the turns; each differs, so that their mistakes do.
LAYOUTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "emocontext": ({"context": 3}, {"context": 3, "reverse": True}),
    "emotionx-friends": ({"context": 2, "speakers": "names"}, {"context": 4}),
    "emotionx-push": ({"context": 2}, {"context": 4, "speakers": "roles"}),
    "iest": ({"context": 1}, {"context": 1, "pooling": "mask"}),
}
# A network over word vectors, emoji's among them, which errs elsewhere than transformers do; where it is known to help.
WORDS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "emocontext": (
        "semi-hierarchical",
        {
            "hidden": 128,
            "embedding": 100,
            "dropout": 0.4,
            "word_dropout": 0.05,
            "min_count": 2,
            "max_features": 20_000,
            "max_length": 60,
        },
    )
}
NAMES = ("Chandler", "Joey", "Monica", "Phoebe", "Rachel", "Ross")
STARTED = "taught.json"
_NETWORK = ("max_length", "dropout", "layer_decay")
_TRAINING = ("epochs", "batch", "rate", "smoothing", "average", "agreement")


class Large(Recipe):
    """Intermediate training on auxiliary tasks, then folds of two layouts blended with n-grams.

    Probabilities are those of the blend, corrected for the class prior where the task knows it; the label answered is
    the one that serves the official metric best on held-out folds.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="large",
        summary="multi-task intermediate training, folds of two layouts, n-grams, words blended, prior correction",
        tasks=tuple(TASKS),
        team="emoscope",
    )
    # `layouts` lists the members: what each changes of the settings for network and training; None takes the task's own
    # of LAYOUTS. Each is trained `repeats` times, from other seeds. `pretraining_text` bounds the examples of each
    # source of the intermediate training, which `lm_` settings steer; 0 leaves it out. `adaptation` names unlabelled
    # text (see `models.unlabelled`) whose masked words the encoder learns to guess before that, at most
    # `adaptation_text` turns of it, for `adaptation_epochs`; with `adaptation_words` IEST's emotion words most of all.
    # `taught` is a folder to keep the encoder in then, for other tasks to share. `ngrams` and `words` add a member of
    # that kind, the latter where the task has one in WORDS, with the `vectors` named.
    defaults: ClassVar[Mapping[str, Any]] = {
        **{name: value for name, value in FINE_TUNING.items() if name not in ("context", "pooling")},
        "encoder": "sentence-transformers/all-mpnet-base-v2",
        "max_length": 96,
        "folds": 5,
        "layouts": None,
        "repeats": 3,
        "batch": 64,
        "rate": 4e-5,
        "smoothing": 0.0,
        "average": 0.0,
        "agreement": 0.0,
        "taught": None,
        "adaptation": IN_DOMAIN,
        "adaptation_text": None,
        "adaptation_epochs": 2,
        "adaptation_words": False,
        "pretraining_text": 20_000,
        "lm_epochs": 2,
        "lm_batch": 128,
        "lm_rate": 8e-5,
        "ngrams": True,
        "words": True,
        "vectors": "glove+emoji",
        "shift": "natural",
    }

    def fit(self, examples: Sequence[Example], fitting: FitContext | None = None) -> Self:
        """Teach the encoder, then fit the ensemble."""
        check_installed(*PACKAGES, extra="train")
        fitting = fitting or FitContext(seed=self.seed)
        chosen = self.select(examples)
        with self._taught(fitting) as encoder:
            return self.fit_block(self.build(encoder), chosen, fitting)

    @contextmanager
    def _taught(self, fitting: FitContext) -> Iterator[str]:
        """The folder of an encoder that has learnt the auxiliary tasks; taught anew only if it is not there."""
        if self.settings["pretraining_text"] == 0 or not self.settings["lm_epochs"]:
            yield self.settings["encoder"]
            return
        with TemporaryDirectory() as temporary:
            kept = self.settings["taught"]
            folder = Path(kept) if kept else (fitting.checkpoints or Path(temporary)) / "taught"
            if not (folder / STARTED).is_file():
                self._teach(fitting.part("teaching"), folder)
            elif load_json(folder / STARTED).get("settings") != self._teaching():
                raise EmoscopeError(
                    f"{folder}: was taught with other settings; name another folder, or remove this one"
                )
            yield str(folder)

    def _teaching(self) -> dict[str, Any]:
        """The settings that the taught encoder depends on."""
        names = ("encoder", "max_length", "dropout", "adaptation", "pretraining_text")
        chosen = {name: value for name, value in self.settings.items() if name in names or name.startswith("lm_")}
        if chosen["adaptation"]:
            chosen |= {name: value for name, value in self.settings.items() if name.startswith("adaptation_")}
        return {**chosen, "encoder": Path(chosen["encoder"]).name}

    def _teach(self, fitting: FitContext, folder: Path) -> None:
        from emoscope.models.torch.multitask import HeadedClassifier
        from emoscope.models.torch.transformer import Transformer

        mixture = auxiliary_examples(fitting, limit=self.settings["pretraining_text"])
        heads = {head: labels for head, labels in affect_labels().items() if head in mixture}
        network: dict[str, Any] = {
            "encoder": self.settings["encoder"],
            "pooling": "mean+focus",
            "context": 3,
            "max_length": self.settings["max_length"],
            "dropout": self.settings["dropout"],
        }
        if self.settings["adaptation"]:
            network |= {
                "pretraining": "masked",
                "pretraining_source": self.settings["adaptation"],
                "pretraining_text": self.settings["adaptation_text"],
                "pretraining_words": list(EMOTION_OF) if self.settings["adaptation_words"] else [],
                "lm_epochs": self.settings["adaptation_epochs"],
                "lm_batch": self.settings["lm_batch"],
                "lm_rate": self.settings["lm_rate"],
            }
        learner = HeadedClassifier(
            heads,
            "transformer",
            network,
            {
                "epochs": self.settings["lm_epochs"],
                "batch": self.settings["lm_batch"],
                "rate": self.settings["lm_rate"],
            },
        )
        learner.fit(*learner.targets(mixture), fitting)
        made = learner.network
        assert isinstance(made, Transformer)
        folder.mkdir(parents=True, exist_ok=True)
        made.encoder.save(folder)
        made.tokens.save(folder)
        counts = {head: len(found) for head, found in mixture.items()}
        about = {"examples": counts, "settings": self._teaching()}
        (folder / STARTED).write_text(json.dumps(about), encoding="utf-8")

    def build(self, encoder: str | None = None) -> Block:
        """The blend: a fine-tuned transformer for each layout, n-grams, and a network over word vectors."""
        from emoscope.models.ensembles.blend import Blend
        from emoscope.models.linear.ngram_block import NgramBlock
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        chosen = self.settings
        members: list[Block] = []
        for layout in chosen["repeats"] * list(chosen["layouts"] or LAYOUTS[self.task.form]):
            wanted = {name: chosen[name] for name in (*_NETWORK, *_TRAINING)} | {"pooling": "mean+focus", **layout}
            if wanted.get("speakers") == "names":
                wanted["names"] = list(NAMES)
            training = Training(**{name: wanted.pop(name) for name in _TRAINING})
            wanted["encoder"] = encoder or chosen["encoder"]
            members.append(NeuralClassifier(self.task.labels, "transformer", wanted, training))
        if chosen["ngrams"]:
            members.append(NgramBlock(self.task.labels))
        if chosen["words"] and self.task.form in WORDS:
            network, sizes = WORDS[self.task.form]
            training = Training(epochs=4, batch=64, rate=2e-3)
            wanted = {**sizes, "vectors": chosen["vectors"]}
            members.append(NeuralClassifier(self.task.labels, network, wanted, training))
        if not members:
            raise EmoscopeError("large needs at least one member")
        return Blend(members, chosen["folds"])

    def held_out_labels(self) -> list[str]:
        """The labels it answers with for what it was fitted on, each by the copies that had not seen it."""
        assert self.block is not None
        held_out = self.block.out_of_fold()
        assert held_out is not None
        detector = self.detector()
        return [detector.labels[place] for place in detector.choose(detector.correct(held_out))]

    def decision_prior(self) -> Floats | None:
        natural = self.natural_prior()
        return self.prior if natural is None else natural
