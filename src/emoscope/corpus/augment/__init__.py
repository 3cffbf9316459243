"""Paraphrases by back-translation, filtered for meaning."""
