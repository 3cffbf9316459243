"""How data are made and what they look like: statistics, agreement between annotators, figures."""
