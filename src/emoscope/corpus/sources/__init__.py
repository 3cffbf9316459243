"""Where dialogues come from: chat exports, windows, distant labels."""
