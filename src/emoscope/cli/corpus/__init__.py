"""`emoscope corpus`."""
