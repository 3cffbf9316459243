"""Word lists, as text files."""
