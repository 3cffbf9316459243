"""What the benchmarks share: paths, the machine, memory, result tables, pages."""
