"""The platform's JSON API."""
