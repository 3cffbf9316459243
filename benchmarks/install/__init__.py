"""What a plain install takes, and how soon it answers."""
