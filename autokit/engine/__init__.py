"""The engine: tensors, the graph that operations leave behind, and the backward pass through it."""
