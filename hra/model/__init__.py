"""The objects of an allocation: hierarchies, gains, metrics, budgets and the problem that they make."""
