"""Annotation studies: the annotators' page and the managers' desk."""
