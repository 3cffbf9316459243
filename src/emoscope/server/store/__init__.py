"""Storage: the database, and files named by the hash of their content."""

from emoscope.server.store.database import Database
from emoscope.server.store.file_store import FileStore, StoredFile
from emoscope.server.store.store import Store

__all__ = ["Database", "FileStore", "Store", "StoredFile"]
