"""From a context and a budget to an allocation, one or many at once."""
