"""`corpus build`: plans, their steps, and running them. Each step is the file of its name."""
