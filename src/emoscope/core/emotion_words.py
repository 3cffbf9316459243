"""The emotion words that IEST's organisers searched tweets for: Table 1 of their paper."""

from collections.abc import Mapping
from types import MappingProxyType

TRIGGERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anger": ("angry", "furious"),
        "disgust": ("disgusted", "disgusting"),
        "fear": ("afraid", "frightened", "scared", "fearful"),
        "joy": ("cheerful", "happy", "joyful"),
        "sad": ("sad", "depressed", "sorrowful"),
        "surprise": ("surprising", "surprised", "astonished", "shocked", "startled", "astounded", "stunned"),
    }
)
EMOTION_OF: Mapping[str, str] = MappingProxyType(
    {word: emotion for emotion, words in TRIGGERS.items() for word in words}
)
