"""Evaluate predictions: official scores, ranks among published results, comparisons, error analysis."""
