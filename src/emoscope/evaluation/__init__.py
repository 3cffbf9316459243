"""What a system's answers are worth: official scores, their place among the published, comparisons, error analysis."""
