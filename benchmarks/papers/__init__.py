"""What the three papers describe, and what shows it here."""
