"""What does not belong into a corpus: offensive dialogues, personal data, other languages."""
