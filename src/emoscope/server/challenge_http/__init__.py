"""The shared-task platform over HTTP: thin routes over `emoscope.server.challenge`, authorised by bearer tokens."""
