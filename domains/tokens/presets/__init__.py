"""Named compositions of hierarchy, metric and traversal: one file for each."""
