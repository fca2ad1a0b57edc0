"""What happened in a computation, as plain data; knows nothing of pictures."""
