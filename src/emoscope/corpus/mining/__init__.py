"""Find dialogues worth annotating: those similar to a few hundred labelled ones, as EmoContext did."""
