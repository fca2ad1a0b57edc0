"""Records of computations as plain data: graphs, the steps of a backward pass, training runs."""
