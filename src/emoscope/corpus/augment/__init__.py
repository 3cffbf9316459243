"""More wordings of what was said: there and back through other languages, with what lost its meaning left out."""
