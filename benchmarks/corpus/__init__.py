"""How well and how fast the corpus steps work."""
