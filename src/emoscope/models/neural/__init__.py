"""Neural blocks. Everything here needs torch (`pip install 'emoscope[train]'`) and is imported only when used."""
