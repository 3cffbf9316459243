"""Names that settings had in earlier versions, so that saved runs still load and `--set old=...` still works."""

from collections.abc import Mapping
from typing import Any

FORMER_NAMES: Mapping[str, str] = {
    # training
    "agreement": "rdrop_alpha",
    "average": "ema_decay",
    "batch": "batch_size",
    "clip": "max_grad_norm",
    "decay": "weight_decay",
    "focus": "focal_gamma",
    "held_out": "validation_fraction",
    "rate": "learning_rate",
    "smoothing": "label_smoothing",
    "unfreeze": "gradual_unfreezing",
    "warming": "balanced_warming",
    "warmup": "warmup_ratio",
    "weighting": "class_weight",
    # networks
    "characters": "char_embedding_size",
    "context_hidden": "context_hidden_size",
    "dense": "dense_size",
    "embedding": "embedding_size",
    "filters": "num_filters",
    "hidden": "hidden_size",
    "layers": "num_layers",
    "lm_batch": "lm_batch_size",
    "lm_rate": "lm_learning_rate",
    "middle": "ffn_size",
    "widths": "kernel_sizes",
    # linear models and trees
    "column_share": "feature_fraction",
    "depth": "max_depth",
    "leaves": "num_leaves",
    "max_steps": "max_iter",
    "min_leaf": "min_data_in_leaf",
    "penalty": "lambda_l2",
    "rounds": "num_boost_round",
    "row_share": "bagging_fraction",
    "strength": "C",
    # single systems
    "boosting_rate": "boosting_learning_rate",
    "lm_classifier_rate": "lm_classifier_learning_rate",
    "lm_hidden": "lm_hidden_size",
    "network_batch": "network_batch_size",
    "network_rate": "network_learning_rate",
    "source_batch": "source_batch_size",
}


def current_names(settings: Mapping[str, Any], former: Mapping[str, str] = FORMER_NAMES) -> dict[str, Any]:
    """Settings under the names they have today.

    >>> current_names({"rate": 0.01, "epochs": 3})
    {'learning_rate': 0.01, 'epochs': 3}
    """
    return {former.get(name, name): value for name, value in settings.items()}
