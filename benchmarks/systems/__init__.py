"""How good the systems are, and how long they train."""
