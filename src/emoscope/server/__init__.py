"""The HTTP server: detection, shared tasks and annotation."""
