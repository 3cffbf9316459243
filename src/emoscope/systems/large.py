"""large: an encoder trained on auxiliary emotion tasks, then an ensemble of folds, for one task.

The published `large` is another blend, of teachers of all tasks at once: see docs/guide/systems.md.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal, Self

from pydantic import Field

from emoscope.core.dialogue import Example
from emoscope.core.emotion_words import EMOTION_OF
from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import check_installed
from emoscope.core.files import read_json
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats
from emoscope.models.former_names import current_names
from emoscope.systems.base import PACKAGES, System, SystemMetadata
from emoscope.systems.idea import MAIN_CHARACTERS
from emoscope.systems.settings import Shift, TrainingSettings
from emoscope.tasks import TASKS
from emoscope.tasks.datasets.affect import IN_DOMAIN, affect_labels, auxiliary_corpora, by_head

# How the members of the ensemble read the turns; different layouts make different mistakes.
LAYOUTS: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "emotionx-friends": ({"context": 2, "speakers": "names"}, {"context": 4}),
    "emotionx-push": ({"context": 2}, {"context": 4, "speakers": "roles"}),
    "iest": ({"context": 1}, {"context": 1, "pooling": "mask"}),
}
USUAL_LAYOUTS: tuple[Mapping[str, Any], ...] = ({"context": 3}, {"context": 3, "reverse": True})
# Networks over word and emoji vectors, which make other mistakes than transformers, for the tasks where they help.
WORD_NETWORKS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "emocontext": (
        "semi-hierarchical",
        {
            "hidden_size": 128,
            "embedding_size": 100,
            "dropout": 0.4,
            "word_dropout": 0.05,
            "min_count": 2,
            "max_features": 20_000,
            "max_length": 60,
        },
    )
}
TAUGHT = "taught.json"
_NETWORK = ("max_length", "dropout", "layer_decay")
_TRAINING = ("epochs", "batch_size", "learning_rate", "precision", "label_smoothing", "ema_decay", "rdrop_alpha")

_DECODER_TRAINING: dict[str, Any] = {
    "schedule": "cosine",
    "warmup_ratio": 0.06,
    "batch_tokens": 4096,
    "label_smoothing": 0.02,
}


class LargeSettings(TrainingSettings):
    """The defaults worked best on held-out folds."""

    shift: Shift = "natural"
    encoder: str = "sentence-transformers/all-mpnet-base-v2"
    """Pretrained encoder: a name on the Hugging Face hub or a folder."""
    max_length: int = 96
    """Maximum number of tokens read."""
    dropout: float = 0.1
    """Dropout rate before the output layer."""
    layer_decay: float = 1.0
    """Factor on the learning rate from each layer to the one below."""
    learning_rate: float = 4e-5
    label_smoothing: float = 0.0
    """Share of the targets that is spread over all labels."""
    ema_decay: float = 0.0
    """Decay of an exponential moving average of the weights; 0 keeps the last weights."""
    rdrop_alpha: float = 0.0
    """Weight of R-Drop's divergence between two passes with different dropout."""
    folds: int = 5
    """Number of folds; each member is trained once without each of them."""
    layouts: list[dict[str, Any]] | None = None
    """The transformers of the ensemble, each with its changes to the settings of network and training; by default those
    of the task."""
    repeats: int = 3
    """Number of times each layout is trained, with different seeds."""
    ngrams: bool = True
    """Whether a linear model over n-grams is a member."""
    words: bool = True
    """Whether a network over word vectors is a member, for tasks where it helps."""
    vectors: str = "glove+emoji"
    """Word vectors of that network: glove, glove+emoji, random, or a file."""
    decoder: str | None = None
    """A causal language model as another member: a name on the Hugging Face hub or a folder."""
    decoder_context: int = 4
    """Number of turns the language model reads, the labelled one included."""
    decoder_learning_rate: float = 1e-5
    """Its peak learning rate; adapters need about ten times as much."""
    describe_labels: bool = False
    """Whether its prompt says in a few words what each label means."""
    bidirectional: bool = False
    """Whether every token of its prompt sees the whole prompt, not only what comes before it."""
    decoder_pooling: Literal["last", "mean"] = "last"
    """What it is classified by: the state of the prompt's last token, or the mean of all."""
    lora_rank: int = Field(default=0, ge=0)
    """Rank of the adapters that are trained instead of all its weights; 0 trains all weights."""
    gradient_checkpointing: bool = False
    """Whether its layers are computed twice, to save memory."""
    pretraining_text: int | None = 20_000
    """Maximum number of examples of each auxiliary task that the encoder is first trained on; 0 turns that off."""
    lm_epochs: int = 2
    """Passes over the auxiliary tasks."""
    lm_batch_size: int = 128
    """Examples per training step on auxiliary tasks and unlabelled text."""
    lm_learning_rate: float = 8e-5
    """Peak learning rate on auxiliary tasks and unlabelled text."""
    adaptation: str | None = IN_DOMAIN
    """Unlabelled text for masked-word pretraining before the auxiliary tasks."""
    adaptation_text: int | None = None
    """Maximum number of turns of that text; null for all."""
    adaptation_epochs: int = 2
    """Passes over that text."""
    adaptation_words: bool = False
    """Whether IEST's emotion words are masked more often than others."""
    taught: str | None = None
    """Folder for the encoder trained on the auxiliary tasks, which other tasks can share."""


class Large(System):
    """Intermediate training on auxiliary tasks, then folds of two layouts, blended with n-grams.

    Probabilities are those of the blend, corrected for the class prior if the task publishes it; labels are chosen to
    maximise the official metric, with factors fitted on held-out folds.
    """

    metadata: ClassVar[SystemMetadata] = SystemMetadata(
        name="large",
        summary="multi-task intermediate training, folds of two layouts, n-grams, words blended, prior correction",
        tasks=tuple(TASKS),
        any_task=True,
        team="emoscope",
        differences=(
            "the scores are those of the published blend: the folds of a language model and of an encoder, both of all "
            "tasks at once, and n-grams (docs/guide/systems.md)",
            "one `train large` makes a smaller blend for one task, without a language model unless `decoder` is set; "
            "with repeats=1 its seeds' mean is 0.7742 on EmoContext's dev, and on folds 0.8484 (Friends), 0.8906 "
            "(EmotionPush) and 0.7043 (IEST)",
        ),
    )
    settings: LargeSettings

    def fit(self, examples: Sequence[Example], fit_context: FitContext | None = None) -> Self:
        check_installed(*PACKAGES, extra="train")
        fit_context = fit_context or FitContext(seed=self.seed)
        chosen = self.select(examples)
        if self.settings.decoder:  # before hours of training the other members
            from emoscope.models.torch.decoder import check_decoder

            check_decoder(self.settings.decoder)
        with self._taught(fit_context) as encoder:
            return self.fit_block(self.build(encoder), chosen, fit_context)

    @contextmanager
    def _taught(self, fit_context: FitContext) -> Iterator[str]:
        """The folder of an encoder trained on the auxiliary tasks, which is trained if it does not exist."""
        if self.settings.pretraining_text == 0 or not self.settings.lm_epochs:
            yield self.settings.encoder
            return
        with TemporaryDirectory() as temporary:
            own = (fit_context.checkpoints or Path(temporary)) / "taught"
            folder = Path(self.settings.taught) if self.settings.taught else own
            if not (folder / TAUGHT).is_file():
                self._teach(fit_context.part("teaching"), folder)
            elif current_names(read_json(folder / TAUGHT).get("settings", {})) != self._teaching():
                raise EmoscopeError(
                    f"{folder}: was trained with other settings; name another folder or remove this one"
                )
            yield str(folder)

    def _teaching(self) -> dict[str, Any]:
        """The settings that this encoder depends on."""
        names = ["max_length", "dropout", "adaptation", "pretraining_text"]
        names += ["lm_epochs", "lm_batch_size", "lm_learning_rate"]
        if self.settings.adaptation:
            names += ["adaptation_text", "adaptation_epochs", "adaptation_words"]
        return {"encoder": Path(self.settings.encoder).name, **self.settings.pick(*names)}

    def _teach(self, fit_context: FitContext, folder: Path) -> None:
        from emoscope.models.torch.multitask import MultiTaskClassifier
        from emoscope.models.torch.training import Training
        from emoscope.models.torch.transformer import Transformer

        settings = self.settings
        mixture = by_head(auxiliary_corpora(fit_context, limit=settings.pretraining_text))
        heads = {head: labels for head, labels in affect_labels().items() if head in mixture}
        network = {"pooling": "mean+focus", "context": 3, **settings.pick("encoder", "max_length", "dropout")}
        if settings.adaptation:
            network |= {
                "pretraining": "masked",
                "pretraining_source": settings.adaptation,
                "pretraining_text": settings.adaptation_text,
                "pretraining_words": list(EMOTION_OF) if settings.adaptation_words else [],
                "lm_epochs": settings.adaptation_epochs,
                **settings.pick("lm_batch_size", "lm_learning_rate"),
            }
        training = Training(
            settings.lm_epochs, settings.lm_batch_size, settings.lm_learning_rate, precision=settings.precision
        )
        teacher = MultiTaskClassifier(heads, "transformer", network, training)
        teacher.fit(*teacher.targets(mixture), fit_context)
        transformer = teacher.network
        assert isinstance(transformer, Transformer)
        folder.mkdir(parents=True, exist_ok=True)
        transformer.encoder.save(folder)
        transformer.tokenizer.save(folder)
        counts = {head: len(examples) for head, examples in mixture.items()}
        about = {"examples": counts, "settings": self._teaching()}
        (folder / TAUGHT).write_text(json.dumps(about), encoding="utf-8")

    def build(self, encoder: str | None = None) -> Block:
        from emoscope.models.ensembles.blend import Blend
        from emoscope.models.linear.ngram_block import NgramBlock
        from emoscope.models.torch.classifier import NeuralClassifier
        from emoscope.models.torch.training import Training

        settings, labels = self.settings, self.task.labels
        members: list[Block] = []
        for layout in settings.repeats * list(settings.layouts or LAYOUTS.get(self.task.form, USUAL_LAYOUTS)):
            network = {**settings.pick(*_NETWORK, *_TRAINING), "pooling": "mean+focus", **current_names(layout)}
            training = Training(**{name: network.pop(name) for name in _TRAINING})
            if network.get("speakers") == "names":
                network["names"] = list(MAIN_CHARACTERS)
            network["encoder"] = encoder or settings.encoder
            members.append(NeuralClassifier(labels, "transformer", network, training))
        if settings.ngrams:
            members.append(NgramBlock(labels))
        if settings.words and self.task.form in WORD_NETWORKS:
            name, sizes = WORD_NETWORKS[self.task.form]
            training = Training(epochs=4, batch_size=64, learning_rate=2e-3, precision=settings.precision)
            members.append(NeuralClassifier(labels, name, {**sizes, "vectors": settings.vectors}, training))
        if settings.decoder:
            network = {"heads": {self.task.form: labels}, "context": settings.decoder_context, "max_length": 192}
            network |= settings.pick(
                "decoder", "describe_labels", "bidirectional", "lora_rank", "gradient_checkpointing"
            )
            network["pooling"] = settings.decoder_pooling
            of_decoder = {**_DECODER_TRAINING, **settings.pick("precision")}
            training = Training(1, learning_rate=settings.decoder_learning_rate, **of_decoder)
            members.append(NeuralClassifier(labels, "decoder", network, training))
        if not members:
            raise EmoscopeError("large needs at least one member")
        return Blend(members, settings.folds)

    def auxiliary(self, fit_context: FitContext) -> dict[str, list[Example]]:
        if self.settings.pretraining_text == 0 or not self.settings.lm_epochs:
            return {}
        return auxiliary_corpora(fit_context, limit=self.settings.pretraining_text)

    def held_out_labels(self) -> list[str]:
        assert self.block is not None
        held_out = self.block.out_of_fold()
        assert held_out is not None
        detector = self.detector()
        return [detector.labels[place] for place in detector.choose(detector.correct(held_out))]

    def decision_prior(self) -> Floats | None:
        return self.prior if self.natural_prior is None else self.natural_prior
