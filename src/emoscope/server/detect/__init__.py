"""Detection over HTTP: the model's heads, batches of waiting requests, and the routes."""
