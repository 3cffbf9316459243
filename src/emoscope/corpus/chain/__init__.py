"""From raw logs to a corpus in one go: a plan names the steps, and each leaves a folder that a rerun may keep."""
