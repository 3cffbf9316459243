"""Paraphrases by back-translation, without those that lost the meaning."""
