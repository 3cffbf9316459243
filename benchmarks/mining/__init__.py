"""What mining saves, and what it costs."""
