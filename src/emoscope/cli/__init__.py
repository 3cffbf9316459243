"""The command line: one module per group of commands; thin: parse, call, print."""
