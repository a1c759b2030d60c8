"""Values of inner nodes from those of the leaves."""
