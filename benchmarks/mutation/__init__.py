"""How many small errors, put into what must not be wrong, the tests find: `make mutation`."""
