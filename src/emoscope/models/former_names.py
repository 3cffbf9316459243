"""Names that settings had in earlier versions, so that saved runs still load and `--set old=...` still works."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FORMER_NAMES: Mapping[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))


def current_names(settings: Mapping[str, Any], former: Mapping[str, str] = FORMER_NAMES) -> dict[str, Any]:
    """Settings under their current names.

    >>> current_names({"rate": 0.01, "epochs": 3})
    {'learning_rate': 0.01, 'epochs': 3}
    """
    return {former.get(name, name): value for name, value in settings.items()}
