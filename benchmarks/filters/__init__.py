"""How often the corpus filters err."""
