"""Items, annotators, judgements, agreement and aggregation."""
