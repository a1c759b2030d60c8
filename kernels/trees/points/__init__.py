"""Trees over points: Morton codes, their order, and the nodes."""
