"""The annotation page: a study in the store, its annotators' links, and what their browsers ask for."""
