"""Shared by all routes: problems, limits, security headers, OpenAPI, metrics, templates."""
