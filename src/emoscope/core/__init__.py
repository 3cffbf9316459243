"""Plain, typed building blocks that know nothing of the layers above: dialogues, text, metrics, files, errors."""
