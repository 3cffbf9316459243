"""Linear models over n-grams and other features."""
