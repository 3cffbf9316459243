"""`corpus build`: plans, their steps, and running them. Each step has a file of the same name."""
