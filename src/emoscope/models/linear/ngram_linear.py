"""Logistic regression over hashed n-grams: trained with scikit-learn, predicts with numpy alone.

Weights are small integers and are added as integers, so a text gets exactly the same score alone and in any batch.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.arrays import open_arrays, save_arrays
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require
from emoscope.core.metrics import Floats
from emoscope.models.linear.fitting import class_weights, held_out_scores
from emoscope.models.linear.ngram_hashing import Channel, HashedTexts, hash_ngrams
from emoscope.models.native.library import library
from emoscope.models.native.ngrams import LONGEST, NativeNgrams
from emoscope.models.probabilities import softmax, temperature_of

FORMAT = "emoscope-ngram-linear-1"
Rows = Sequence[Sequence[str]]
Spaced = Callable[[str], str]


@dataclass(kw_only=True, eq=False)
class NgramLinear:
    """A classifier of rows of texts in order of time: the last text is the first field, the one before it the second.

    Missing fields are empty, and earlier texts are not read. `spaced` converts a raw text to tokens between spaces;
    without it, texts are tokenised.

    >>> model = NgramLinear(bits=10, field_weights=[1.0]).fit([["so happy"], ["so sad"]] * 5, ["happy", "sad"] * 5)
    >>> model.labels[model.predict_proba([["happy !"]])[0].argmax()]
    'happy'
    """

    bits: int = 19
    field_weights: Sequence[float] = (1.0, 0.3, 0.5)
    word_lengths: Sequence[int] = (1, 2)
    char_lengths: Sequence[int] = (2, 3, 4, 5)
    strength: float = 16.0  # the inverse of regularisation, scikit-learn's C
    min_rows: int = 2  # n-grams in fewer rows are ignored
    calibration_folds: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        self.labels: tuple[str, ...] = ()
        self.prior: Floats = np.zeros(0)
        self.held_out: Floats | None = None  # after `fit`: out-of-fold probabilities of the rows
        self._table = np.zeros((0, 0), np.int8)
        self._scale: Floats = np.zeros(0)
        self._intercept: Floats = np.zeros(0)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    # Training

    def fit(self, rows: Rows, labels: Sequence[str], spaced: Spaced | None = None) -> Self:
        """Learn the label of each row."""
        require("sklearn", extra="linear")
        if len(rows) != len(labels) or not rows:
            raise EmoscopeError(f"{len(rows):,} rows but {len(labels):,} labels to learn from")
        self.labels = tuple(dict.fromkeys(sorted(labels)))
        if len(self.labels) < 2:
            raise EmoscopeError("learning needs at least two different labels")
        target = np.array([self.labels.index(label) for label in labels])
        self.prior = np.bincount(target, minlength=len(self.labels)) / len(target)
        features = self._features(self._texts(rows, spaced))
        frequency = np.bincount(features.indices, minlength=1 << self.bits)
        kept = np.flatnonzero(frequency >= min(self.min_rows, frequency.max()))
        # Rarity is inverse document frequency, smoothed as scikit-learn does, and scaled to about 1.
        rarity = (np.log((1 + len(rows)) / (1 + frequency[kept])) + 1) / 5
        features = features[:, kept]
        features.data *= rarity[features.indices]
        coefficients, intercept = self._regression(features, target)
        scores = held_out_scores(self._regression, features, target, folds=self.calibration_folds, seed=self.seed)
        temperature = 1.0 if scores is None else temperature_of(scores, target, reach=2)
        self.held_out = None if scores is None else softmax(scores / temperature)
        self._intercept = intercept / temperature
        # The weights include the rarity, so that prediction needs one table only.
        weights = coefficients * rarity / temperature
        self._scale = np.maximum(np.abs(weights).max(1), 1e-12) / 127
        self._table = np.zeros(((1 << self.bits) + 1, len(self.labels)), np.int8)  # the last row is "no n-gram here"
        self._table[kept] = np.rint(weights / self._scale[:, None]).T
        self.__dict__.pop("_native", None)  # that of an earlier fit
        return self

    def _features(self, texts: Sequence[str]) -> Any:
        """The training matrix: n-gram counts of each field, divided by the root of the field's number of n-grams."""
        from scipy.sparse import csr_matrix

        fields = len(self.field_weights)
        indices, values, holders = [], [], []
        for block in self._blocks(texts):
            starts = block[0].starts
            numbers = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(block[0].buckets)))
            holder = np.concatenate([numbers[channel.buckets != channel.empty] for channel in block])
            factors = self._factors(np.bincount(holder, minlength=len(texts)))
            indices.append(np.concatenate([channel.buckets[channel.buckets != channel.empty] for channel in block]))
            values.append(factors.reshape(-1)[holder])
            holders.append(holder // fields)
        matrix = csr_matrix(
            (np.concatenate(values), (np.concatenate(holders), np.concatenate(indices))),
            shape=(len(texts) // fields, 1 << self.bits),
        )
        matrix.sum_duplicates()
        return matrix

    def _regression(self, features: Any, target: NDArray[np.int64]) -> tuple[Floats, Floats]:
        from sklearn.linear_model import LogisticRegression

        model = LogisticRegression(C=self.strength, max_iter=300, tol=1e-3, random_state=self.seed)
        return class_weights(model.fit(features, target))

    # Prediction

    @cached_property
    def _native(self) -> NativeNgrams | None:
        """The C kernel, if it is compiled and supports n-grams of these lengths."""
        if library() is None or max(self.char_lengths, default=0) > LONGEST:
            return None
        return NativeNgrams(
            self._table,
            bits=self.bits,
            field_weights=self.field_weights,
            word_lengths=self.word_lengths,
            char_lengths=self.char_lengths,
        )

    def predict_proba(self, rows: Rows, spaced: Spaced | None = None) -> Floats:
        """The probability of each label, in the order of `labels`, under the training prior."""
        self._check_fitted()
        if not rows:
            return np.zeros((0, len(self.labels)))
        if self._native is not None:
            scores = self._native.scores(rows, spaced)
        else:
            scores = self._scores(self._texts(rows, spaced))
        return softmax(scores * self._scale + self._intercept)

    def _check_fitted(self) -> None:
        if not len(self._table):
            raise EmoscopeError("this model has not been fitted")

    def _scores(self, texts: Sequence[str]) -> Floats:
        fields, size = len(self.field_weights), len(self.labels)
        rows = len(texts) // fields
        scores = np.zeros((rows, size))
        for block in self._blocks(texts):
            sums = np.zeros((len(block[0].buckets), size), np.int32)
            counts = np.zeros(len(block[0].buckets), np.int32)
            for channel in block:
                sums += self._table.take(channel.buckets, axis=0)
                counts += channel.buckets != channel.empty
            starts = block[0].starts
            totals = np.add.reduceat(sums, starts, axis=0).reshape(rows, fields, size)
            factors = self._factors(np.add.reduceat(counts, starts))
            # Field by field rather than a matrix product: the order of additions must not depend on the batch.
            for field in range(fields):
                scores += totals[:, field] * factors[:, field, None]
        return scores

    # Shared by both

    def _blocks(self, texts: Sequence[str]) -> list[list[HashedTexts]]:
        """Hashed words, and hashed characters; each block is scaled by its own number of n-grams."""
        fields = len(self.field_weights)
        words = [Channel("word", length) for length in self.word_lengths]
        chars = [Channel("char", length) for length in self.char_lengths]
        hashed = hash_ngrams(
            texts, [*words, *chars], bits=self.bits, salts=list(range(fields)) * (len(texts) // fields)
        )
        return [block for block in (hashed[: len(words)], hashed[len(words) :]) if block]

    def _texts(self, rows: Rows, spaced: Spaced | None) -> list[str]:
        """The tokenised fields of all rows, one after the other."""
        fields = len(self.field_weights)
        latest = [text for row in rows for text in (*row[-fields:][::-1], *[""] * (fields - len(row)))]
        return [spaced(text) for text in latest] if spaced else latest

    def _factors(self, counts: NDArray[np.integer]) -> Floats:
        """The factor on a field's n-grams: its weight over the square root of their number."""
        fields = len(self.field_weights)
        return np.asarray(np.asarray(self.field_weights) / np.sqrt(np.maximum(counts.reshape(-1, fields), 1)))

    # Saving

    def save(self, path: str | Path) -> None:
        """Write one `.npz` file."""
        self._check_fitted()
        arrays: dict[str, NDArray[Any]] = {
            "settings": np.array(json.dumps({"format": FORMAT, **asdict(self), "labels": self.labels})),
            "table": self._table,
            "scale": self._scale,
            "intercept": self._intercept,
            "prior": self.prior,
        }
        save_arrays(path, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what `save` wrote."""
        with open_arrays(path, "an n-gram model") as arrays:
            settings = json.loads(str(arrays["settings"]))
            if settings.pop("format") != FORMAT:
                raise InputError(path, f"expected a model of format {FORMAT}")
            labels = tuple(settings.pop("labels"))
            model = cls(**settings)
            model.labels = labels
            model._table, model._scale = arrays["table"], arrays["scale"]
            model._intercept, model.prior = arrays["intercept"], arrays["prior"]
            if model._table.shape != ((1 << model.bits) + 1, len(labels)):
                raise ValueError("its table has the wrong size")
        return model
