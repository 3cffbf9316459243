"""Plain, typed building blocks that import nothing from the layers above: dialogues, text, metrics, files, errors."""
