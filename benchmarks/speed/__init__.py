"""How fast the models are."""
