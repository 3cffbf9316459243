"""`emoscope challenge`."""
