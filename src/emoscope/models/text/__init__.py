"""Text to token ids: tokenizer, vocabulary and context window. Needs no torch."""
