"""Blocks made of blocks: means, votes, folds, cascades, blends."""
