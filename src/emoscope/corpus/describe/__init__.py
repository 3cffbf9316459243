"""Statistics, figures and the datasheet of a corpus."""
