"""How much load the server takes."""
