"""Where a shared task is kept: a database, a folder of files named by their content, and a clock."""

from emoscope.server.store.database import Database
from emoscope.server.store.file_store import FileStore, StoredFile
from emoscope.server.store.store import Store

__all__ = ["Database", "FileStore", "Store", "StoredFile"]
