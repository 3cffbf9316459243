"""Train, cross-validate, predict and export; the record of a run."""
