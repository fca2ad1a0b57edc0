"""The engine: tensors, the graph of the operations that computed them, and the backward pass through it."""
