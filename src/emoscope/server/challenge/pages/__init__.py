"""The platform's web pages."""
