"""Networks and their training. Needs torch."""
