"""How `emoscope score` and training grow with the data and the cores."""
