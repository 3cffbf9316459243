"""The HTTP server: detection, and shared tasks that lose nothing."""
