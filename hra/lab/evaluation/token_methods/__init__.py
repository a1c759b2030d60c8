"""All token methods on real images, in one table."""
