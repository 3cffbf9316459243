"""What every route shares: problems, limits, security headers, OpenAPI, metrics, templates."""
