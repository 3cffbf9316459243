"""What the platform does, independent of HTTP."""
