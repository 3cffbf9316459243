"""The web pages: templates and static files of our own, nothing from elsewhere."""
