"""`corpus build`: a plan and its steps."""
