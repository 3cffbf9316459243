"""Sources of dialogues: chat exports, windows, distant labels."""
