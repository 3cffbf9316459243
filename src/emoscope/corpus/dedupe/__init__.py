"""Exact and near duplicates."""
