"""Feature extractors: examples in, a sparse matrix out. Classifiers over features take any union of them."""
