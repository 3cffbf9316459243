"""Different blocks, each fitted fold by fold, blended with weights fitted on held-out folds."""

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from emoscope.core.arrays import load_arrays, save_arrays
from emoscope.core.dialogue import Example
from emoscope.core.errors import EmoscopeError, InputError
from emoscope.core.extras import require
from emoscope.core.files import read_json, write_file
from emoscope.core.fit_context import FitContext
from emoscope.models.block import Block, Floats, Prediction, one_hot
from emoscope.models.ensembles.combine import Ensemble, dialogue_folds
from emoscope.models.ensembles.fit_members import MemberFit, fit_members
from emoscope.models.probabilities import softmax

WEIGHTS = "blend.json"
OUT_OF_FOLD = "out_of_fold.npz"
_TINY = 1e-7


class Blend(Ensemble):
    """Each member is fitted once per fold, on all other folds; the copies' log-probabilities are averaged, and the
    members' averages are added with weights and a bias per label.

    Weights and biases maximise the likelihood of the held-out folds, so the blend is also calibrated. The held-out
    probabilities are kept, to score the blend and to teach smaller models.
    """

    child_arguments = ("members",)

    def __init__(self, members: Sequence[Block], folds: int = 5) -> None:
        if not members:
            raise EmoscopeError("a blend needs at least one member")
        if folds < 2:
            raise EmoscopeError("a blend needs at least 2 folds")
        self.members = list(members)
        self.folds = folds
        self.labels = members[0].labels
        self.fitted: list[list[Block]] = []
        self.weights = np.full(len(members), 1 / len(members))
        self.bias = np.zeros(len(self.labels))
        self.held_out: Floats = np.zeros((0, len(members), len(self.labels)))
        self.cut: NDArray[np.int64] = np.zeros(0, np.int64)

    def fit(self, examples: Sequence[Example], labels: Sequence[str], fit_context: FitContext) -> Self:
        self.cut = dialogue_folds(examples, self.folds, fit_context.seed)
        parts = [
            MemberFit(
                name=f"member{number}-fold{fold}",
                block=deepcopy(member),
                fit_on=np.flatnonzero(self.cut != fold).tolist(),
                predict_on=np.flatnonzero(self.cut == fold).tolist(),
                seed=fit_context.seed * 10_007 + number * 101 + fold,
            )
            for number, member in enumerate(self.members)
            for fold in range(self.folds)
        ]
        self.held_out = np.zeros((len(examples), len(self.members), len(self.labels)))
        fitted: dict[int, Block] = {}
        for place, block, answers in fit_members(parts, examples, labels, fit_context):
            fitted[place] = block
            self.held_out[parts[place].predict_on, place // self.folds] = answers
        self.set_children({parts[place].name: fitted[place] for place in range(len(parts))})
        self.weights, self.bias = blend_weights(self.held_out, one_hot(labels, self.labels))
        return self

    def infer(self, examples: Sequence[Example]) -> Prediction:
        if not self.fitted:
            raise EmoscopeError("this blend has not been fitted")
        return super().infer(examples)

    def combine(self, probabilities: Mapping[str, Floats]) -> Floats:
        members = [
            geometric_mean([probabilities[_child(number, fold)] for fold in range(len(copies))])
            for number, copies in enumerate(self.fitted)
        ]
        return blended(np.stack(members, 1), self.weights, self.bias)

    def answers_unseen(self, examples: Sequence[Example], folds: Sequence[int]) -> Floats:
        """Probabilities of rewordings of the training examples, each from the copies that have not seen its fold."""
        fold_of = np.asarray(folds)
        probabilities = np.zeros((len(examples), len(self.fitted), len(self.labels)))
        for fold in np.unique(fold_of).tolist():
            places = np.flatnonzero(fold_of == fold)
            rewordings = [examples[place] for place in places.tolist()]
            for number, copies in enumerate(self.fitted):
                probabilities[places, number] = copies[fold].predict_proba(rewordings)
        return blended(probabilities, self.weights, self.bias)

    def out_of_fold(self) -> Floats:
        """Probabilities of the training examples, each from the copies that have not seen it."""
        return blended(self.held_out, self.weights, self.bias)

    def children(self) -> Mapping[str, Block]:
        return {
            _child(number, fold): block
            for number, copies in enumerate(self.fitted)
            for fold, block in enumerate(copies)
        }

    def set_children(self, children: Mapping[str, Block]) -> None:
        blocks = list(children.values())
        self.fitted = [blocks[first : first + self.folds] for first in range(0, len(blocks), self.folds)]

    @classmethod
    def from_config(cls, config: Mapping[str, Any], children: Mapping[str, Block]) -> Self:
        blend = cls(list(children.values())[:: config["folds"]], config["folds"])
        blend.set_children(children)
        return blend

    def save_weights(self, folder: Path) -> None:
        weights = {"weights": self.weights.tolist(), "bias": self.bias.tolist()}
        write_file(folder / WEIGHTS, json.dumps(weights))
        save_arrays(folder / OUT_OF_FOLD, {"members": self.held_out.astype(np.float32), "fold": self.cut})

    def load_weights(self, folder: Path) -> None:
        content, arrays = read_json(folder / WEIGHTS), load_arrays(folder / OUT_OF_FOLD)
        try:
            self.weights, self.bias = np.array(content["weights"], float), np.array(content["bias"], float)
            self.held_out, self.cut = arrays["members"].astype(np.float64), arrays["fold"]
        except (KeyError, TypeError, ValueError):
            raise InputError(folder, "does not hold the weights of a blend") from None


def _child(member: int, fold: int) -> str:
    return f"member{member}/fold{fold}"


def geometric_mean(answers: Sequence[Floats]) -> Floats:
    """The normalised geometric mean of probabilities.

    >>> geometric_mean([np.array([[0.8, 0.2]]), np.array([[0.2, 0.8]])]).tolist()
    [[0.5, 0.5]]
    """
    return softmax(np.mean([np.log(np.maximum(each, _TINY)) for each in answers], axis=0))


def blended(answers: Floats, weights: Floats, bias: Floats) -> Floats:
    """Blend probabilities of shape examples × members × labels."""
    logs = np.log(np.maximum(answers, _TINY))
    return softmax(np.einsum("nml,m->nl", logs, weights) + bias)


def blend_weights(answers: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """The members' non-negative weights and the labels' biases that maximise the likelihood of the targets.

    >>> sure, unsure = np.array([[0.9, 0.1], [0.1, 0.9]]), np.array([[0.5, 0.5], [0.5, 0.5]])
    >>> weights, _ = blend_weights(np.stack([sure, unsure], 1), np.eye(2))
    >>> bool(weights[0] > weights[1])
    True
    """
    optimise = require("scipy.optimize", extra="train")
    logs = np.log(np.maximum(answers, _TINY))
    members, labels = logs.shape[1:]

    def loss(values: Floats) -> tuple[float, Floats]:
        likely = softmax(np.einsum("nml,m->nl", logs, values[:members]) + values[members:])
        wrong = (likely - targets) / len(targets)
        gradient = np.concatenate([np.einsum("nl,nml->m", wrong, logs), wrong.sum(0)])
        # Slight regularisation towards equal weights and no bias, for small data.
        pull = values - start
        value = -(targets * np.log(np.maximum(likely, _TINY))).sum() / len(targets) + 1e-4 * (pull**2).sum()
        return float(value), np.asarray(gradient + 2e-4 * pull)

    start = np.concatenate([np.full(members, 1 / members), np.zeros(labels)])
    bounds = [(0.0, 3.0)] * members + [(-3.0, 3.0)] * labels
    best = optimise.minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return np.asarray(best[:members]), np.asarray(best[members:])
