"""From a mesh to its cluster hierarchy."""
