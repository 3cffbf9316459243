"""One way to spread work: in this process, over processes, or over a Ray cluster."""
