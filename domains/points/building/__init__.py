"""From a cloud to the tree over it, in memory or on disk."""
