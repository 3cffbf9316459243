"""Everything that only trains. Needs torch."""
