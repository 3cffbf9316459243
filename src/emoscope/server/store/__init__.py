"""Where a shared task is kept: a database, a folder of files named by their content, and a clock."""

# Imported for its tables: whoever sees the store's schema sees all of it.
from emoscope.server.store import annotation_models as annotation_models
from emoscope.server.store.database import Database
from emoscope.server.store.file_store import FileStore, StoredFile
from emoscope.server.store.store import Store, default_data_dir

__all__ = ["Database", "FileStore", "Store", "StoredFile", "default_data_dir"]
