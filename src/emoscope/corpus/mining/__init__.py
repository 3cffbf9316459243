"""Find dialogues worth judging: those that resemble a few hundred labelled ones, as EmoContext did."""
