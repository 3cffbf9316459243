"""Finding dialogues that are worth a judgement: those that resemble a few hundred known ones, as EmoContext did."""
