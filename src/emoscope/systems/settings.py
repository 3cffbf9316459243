"""The settings of systems, with the paper's values as defaults; `emoscope systems NAME` prints the descriptions."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from emoscope.core.errors import EmoscopeError, did_you_mean
from emoscope.models.former_names import current_names

if TYPE_CHECKING:
    from emoscope.models.torch.classifier import NeuralClassifier
    from emoscope.models.torch.training import Training

ClassWeight = Literal["none", "balanced", "root"]
Precision = Literal["auto", "full", "bfloat16"]
Shift = Literal["none", "natural", "estimate"]


class SettingHelp(NamedTuple):
    """A setting as shown to users."""

    name: str
    default: Any
    meaning: str


class SystemSettings(BaseModel):
    """The settings every system has.

    >>> SystemSettings.of({"shift": "natural"}, "toy").shift
    'natural'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    shift: Shift = "none"
    """Class prior of the probabilities: the training data's (none), the task's published mix of real traffic (natural),
    or an estimate from the scored data (estimate)."""

    @classmethod
    def of(cls, values: Mapping[str, Any], system: str) -> Self:
        """Validate settings given by name; former names are accepted."""
        renamed = current_names(values)
        for name in renamed:
            if name not in cls.model_fields:
                hint = did_you_mean(name, cls.model_fields, "it has")
                raise EmoscopeError(f"{system} has no setting {name!r}; {hint}")
        try:
            return cls(**renamed)
        except ValidationError as error:
            first = error.errors()[0]
            expected = first.get("ctx", {}).get("expected") or first["msg"].removeprefix("Input should be ")
            name = ".".join(map(str, first["loc"][:1]))
            raise EmoscopeError(f"{name}: expected {expected}, found {first['input']!r}") from None

    @classmethod
    def documented(cls) -> Iterator[SettingHelp]:
        """Each setting with its default and meaning; the meaning is inherited if only the default changes."""
        for name, field in cls.model_fields.items():
            families = (base.model_fields for base in cls.__mro__ if issubclass(base, SystemSettings))
            meanings = (fields[name].description for fields in families if name in fields)
            meaning = next((" ".join(text.split()) for text in meanings if text), "")
            yield SettingHelp(name, field.get_default(call_default_factory=False), meaning)

    def pick(self, *names: str) -> dict[str, Any]:
        """Some of the settings, by name."""
        return {name: getattr(self, name) for name in names}


class TrainingSettings(SystemSettings):
    """How a network is trained."""

    epochs: int = 3
    """Passes over the training data."""
    batch_size: int = 64
    """Examples per training step."""
    learning_rate: float = 1e-3
    """Peak learning rate of AdamW."""
    precision: Precision = "auto"
    """Of the multiplications: bfloat16 takes half the time, also on a CPU with AVX-512 BF16 or AMX; full is single
    precision; auto is bfloat16 on a GPU and full on a CPU. Unlabelled text is always read with auto."""

    def training(self, **changes: Any) -> "Training":
        """The training plan, with changes."""
        from emoscope.models.torch.training import Training

        return Training(**{**self.pick("epochs", "batch_size", "learning_rate", "precision"), **changes})

    def classifier(
        self, labels: Sequence[str], network: str, settings: Mapping[str, Any], **training: Any
    ) -> "NeuralClassifier":
        """A network with these settings and this training plan, with changes."""
        from emoscope.models.torch.classifier import NeuralClassifier

        return NeuralClassifier(labels, network, settings, self.training(**training))


class VocabularySettings(SystemSettings):
    """What a network over words reads."""

    vectors: str = "glove+emoji"
    """Word vectors: glove, glove+emoji, word2vec (trained on the texts), random, or a file."""
    embedding_size: int = 100
    """Size of the word vectors."""
    hidden_size: int = 128
    """Units of a recurrent layer, in each direction."""
    min_count: int = 2
    """Minimum number of occurrences of a word in the vocabulary."""
    max_features: int = 20_000
    """Maximum size of the vocabulary."""

    def words(self, **more: Any) -> dict[str, Any]:
        """The settings of a network over words, except the hidden size, which not every network has."""
        return {**self.pick("vectors", "embedding_size", "min_count", "max_features"), **more}


class WordNetworkSettings(VocabularySettings, TrainingSettings):
    """A network over words and its training."""

    max_length: int = 60
    """Maximum number of words read per turn; the last ones are kept."""
    dropout: float = 0.4
    """Dropout rate."""

    def words(self, **more: Any) -> dict[str, Any]:
        return super().words(**self.pick("max_length", "dropout"), **more)


class FineTuningSettings(TrainingSettings):
    """A fine-tuned encoder; the defaults are those of BERT's paper."""

    encoder: str = "bert-base-uncased"
    """Pretrained encoder: a name on the Hugging Face hub or a folder."""
    pooling: str = "mean"
    """How the tokens' vectors are pooled: cls, mean, max, last-turn, last-turn-max, mask or mean+focus."""
    context: int = 1
    """Number of turns read, the labelled one included."""
    max_length: int = 128
    """Maximum number of tokens read."""
    dropout: float = 0.1
    """Dropout rate before the output layer."""
    layer_decay: float = 1.0
    """Factor on the learning rate from each layer to the one below."""
    batch_size: int = 32
    learning_rate: float = 2e-5

    def fine_tuned(
        self,
        labels: Sequence[str],
        *,
        class_weight: ClassWeight = "none",
        balanced_warming: bool = False,
        **network: Any,
    ) -> "NeuralClassifier":
        """A transformer with these settings, and more settings of the network.

        >>> FineTuningSettings().fine_tuned(["joy", "anger"], context=2).settings["context"]
        2
        """
        shared = self.pick("encoder", "pooling", "context", "max_length", "dropout", "layer_decay")
        training = {"class_weight": class_weight, "balanced_warming": balanced_warming}
        return self.classifier(labels, "transformer", {**shared, **network}, **training)


class FrozenEncoderSettings(TrainingSettings):
    """A network over the word vectors of a frozen encoder."""

    encoder: str = "bert-base-uncased"
    """Pretrained encoder of the word vectors: a name on the Hugging Face hub or a folder."""
    num_layers: int = 1
    """Number of the encoder's last layers that are averaged."""
    max_length: int = 128
    """Maximum number of tokens read per turn."""
    dropout: float = 0.5
    """Dropout rate of the word vectors."""
    dense_size: int = 512
    """Units of the layer before the output."""

    def contextual(self, labels: Sequence[str], network: Mapping[str, Any], **training: Any) -> "NeuralClassifier":
        """A network with these settings, more settings of the network, and changes to the training plan."""
        shared = self.pick("encoder", "num_layers", "max_length", "dropout", "dense_size")
        return self.classifier(labels, "contextual", {**shared, **network}, **training)


class PretrainingSettings(TrainingSettings):
    """A language model that learns from unlabelled text."""

    pretraining_text: int | None = None
    """Maximum number of lines of unlabelled text; 0 turns pretraining off."""
    lm_epochs: int = 1
    """Passes over the unlabelled text."""
    lm_batch_size: int = 64
    """Rows of unlabelled text per training step."""
    lm_learning_rate: float = 5e-5
    """Peak learning rate of the language model."""


class LanguageModelSettings(PretrainingSettings):
    """ULMFiT's language model."""

    lm_epochs: int = 6
    lm_learning_rate: float = 3e-3
    tune_epochs: int = 4
    """Passes of the language model over the task's own texts."""


class FurtherPretrainingSettings(FineTuningSettings, PretrainingSettings):
    """An encoder that is pretrained further on unlabelled text before it is fine-tuned."""

    pretraining_text: int | None = 200_000

    def pretraining(self, objective: str, source: str) -> dict[str, Any]:
        """The network's settings for pretraining on a source of unlabelled text."""
        shared = self.pick("pretraining_text", "lm_epochs", "lm_batch_size", "lm_learning_rate")
        return {"pretraining": objective, "pretraining_source": source, **shared}


class MixedSettings(VocabularySettings, FineTuningSettings):
    """A fine-tuned encoder over three turns, and networks over words with their own training settings."""

    context: int = 3
    max_length: int = 100
    network_epochs: int = 5
    """Passes over the training data, for the networks over words."""
    network_batch_size: int = 64
    """Examples per training step, for the networks over words."""
    network_learning_rate: float = 1e-3
    """Peak learning rate of the networks over words."""
    network_dropout: float = 0.4
    """Dropout rate of the networks over words."""

    def network_training(self) -> dict[str, Any]:
        """The training settings of the networks over words."""
        names = ("epochs", "batch_size", "learning_rate")
        return {name: getattr(self, f"network_{name}") for name in names}

    def words(self, **more: Any) -> dict[str, Any]:
        shared = self.pick("context", "max_length", "hidden_size")
        return super().words(pooling="max", dropout=self.network_dropout, **shared, **more)
